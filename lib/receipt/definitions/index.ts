/**
 * `receipt.definitions` and `receipt.draft`, which load what reads YAML when they are first asked.
 */
import type { Draft, ListedTool } from './draft.ts'
import type { Definitions } from './read.ts'

export type { Definitions, Draft, ListedTool }

/**
 * Register the classifiers and importers of a YAML or JSON file, so that a server or a log of one's
 * own is known without a line of TypeScript. Nothing is registered when something in the file is
 * wrong. A file may be read twice.
 *
 * @throws TouchstoneError `file_unreadable`, and `yaml_syntax`, `classifier_invalid` and
 *   `importer_invalid` with file, line and column
 */
export async function definitions(path: string): Promise<Definitions> {
  return (await import('./read.ts')).registerFile(path)
}

/**
 * A first draft of such a file out of a server's list of tools. Tools that are known already are
 * left out, and the draft raises no level before it is completed.
 *
 * @param server the name that recorders give the server
 * @param tools  as `tools/list` gives them
 */
export async function draft(server: string, tools: readonly ListedTool[]): Promise<Draft> {
  return (await import('./draft.ts')).draftFor(server, tools)
}
