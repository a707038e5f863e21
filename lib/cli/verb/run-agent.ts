/**
 * `--agent 'my-agent --mcp-config {mcp_config} {task}'`: a program under test, said in one line.
 */
import { gotWord } from '../../choice.ts'
import { TouchstoneError } from '../../errors.ts'
import { agent, type Configuration, KNOWN_AGENTS, type KnownAgent } from '../../harness/index.ts'

/**
 * The configuration that one `--agent` describes: `[NAME=]COMMAND`, `[NAME=]URL` of a service, or
 * `[NAME=]KNOWN` with more words for a known agent's command line.
 */
export function agentConfiguration(text: string): { name: string; configuration: Configuration } {
  const where = `--agent ${text}`
  const named = /^([A-Za-z0-9][A-Za-z0-9_.-]*)=(.+)$/s.exec(text)
  const name = named?.[1]
  const words = wordsOf(named?.[2] ?? text, where)
  const [command, ...args] = words
  if (command === undefined)
    throw new TouchstoneError('usage', 'expected a command or a URL, got nothing', { where })
  const own = name === undefined ? {} : { name }
  if (isKnown(command) && !words.some((word) => word.includes('{'))) {
    const made = agent.known(command, { args, ...own })
    return { name: made.name, configuration: { agent: made } }
  }
  if (!/^https?:/.test(command)) requireFilled(words, where)
  const made =
    /^https?:\/\//.test(command) && args.length === 0
      ? agent.http({ url: command, ...own })
      : agent.command({ command, args, ...own })
  return { name: made.name, configuration: { agent: made } }
}

function isKnown(word: string): word is KnownAgent {
  return (KNOWN_AGENTS as readonly string[]).includes(word)
}

/** What is filled in, with what of it tells the program its task or its servers. */
const TELLING = ['task', 'task_file', 'mcp_config', 'mcp_config_dir', 'mcp_servers', 'url']
const FILLED = [...TELLING, 'mcp_names', 'seed', 'folder']

/** @throws TouchstoneError `usage` for a word in braces that nothing fills, or for none at all */
function requireFilled(words: readonly string[], where: string): void {
  const found = words.flatMap((word) =>
    [...word.matchAll(/\{([A-Za-z][\w-]*)\}/g)].map(([, name]) => name as string),
  )
  const listed = FILLED.map((name) => `{${name}}`).join(', ')
  const odd = found.find((name) => !FILLED.includes(name))
  if (odd !== undefined)
    throw new TouchstoneError('usage', `expected one of ${listed}, ${gotWord(odd, FILLED)}`, {
      where,
    })
  if (!found.some((name) => TELLING.includes(name)))
    throw new TouchstoneError(
      'usage',
      `expected at least one of ${TELLING.map((name) => `{${name}}`).join(', ')}, got none: the program would know neither its task nor its servers. Known by their names: ${KNOWN_AGENTS.join(', ')}`,
      { where },
    )
}

/**
 * The words of a command line. Quotes hold words together as in a shell; nothing else of a shell is
 * there: no variable, no pipe.
 *
 * @throws TouchstoneError `usage` for a quote that is not closed
 */
export function wordsOf(text: string, where: string): string[] {
  const words: string[] = []
  let word: string | null = null
  let quote: string | null = null
  for (let i = 0; i < text.length; i++) {
    const letter = text[i] as string
    if (quote !== null) {
      if (letter === quote) quote = null
      else if (letter === '\\' && quote === '"' && '"\\'.includes(text[i + 1] ?? ''))
        word += text[++i] as string
      else word += letter
    } else if (letter === '"' || letter === "'") {
      quote = letter
      word ??= ''
    } else if (letter === '\\' && i + 1 < text.length) {
      word = (word ?? '') + (text[++i] as string)
    } else if (/\s/.test(letter)) {
      if (word !== null) words.push(word)
      word = null
    } else {
      word = (word ?? '') + letter
    }
  }
  if (quote !== null)
    throw new TouchstoneError('usage', `expected a closing ${quote}, got the end`, { where })
  return word === null ? words : [...words, word]
}
