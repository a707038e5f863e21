/**
 * `--agent 'my-agent --mcp-config {mcp_config} {task}'`: a program under test, said in one line.
 */
import { TouchstoneError } from '../errors.ts'
import { agent, type Configuration } from '../harness/index.ts'

/**
 * The configuration that one `--agent` describes: `[NAME=]COMMAND`, or `[NAME=]URL` of a service.
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
  const made =
    /^https?:\/\//.test(command) && args.length === 0
      ? agent.http({ url: command, ...own })
      : agent.command({ command, args, ...own })
  return { name: made.name, configuration: { agent: made } }
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
