/**
 * How this program is called from where it was called, so that a printed command can be typed as it
 * stands.
 */
import { relative, resolve, sep } from 'node:path'
import { printable } from '../../errors.ts'

/**
 * `touchstone`, `npx touchstone` where it is a project's own, or the way that works in a checkout.
 */
export function ownName(
  program = process.argv[1] ?? '',
  environment: Record<string, string | undefined> = process.env,
): string {
  if (program.endsWith('.ts')) {
    if (resolve(program, '..') === process.cwd()) return 'npm run -s touchstone --'
    const near = relative(process.cwd(), program)
    return `node ${near.startsWith('..') ? resolve(program) : near}`
  }
  const local =
    program.includes(`${sep}node_modules${sep}`) && !program.includes('/lib/node_modules/')
  return local || environment['npm_command'] === 'exec' ? 'npx touchstone' : 'touchstone'
}

/** Words as a shell reads them back. */
export function quoted(words: readonly string[]): string {
  return words
    .map((word) =>
      /^[\w@%+=:,./-]+$/.test(word) ? word : `'${printable(word).replaceAll("'", "'\\''")}'`,
    )
    .join(' ')
}
