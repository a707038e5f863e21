/** A pager for what does not fit on the screen: `PAGER`, else `less`, else none. */
import { spawn } from 'node:child_process'

/**
 * Show a text in the pager.
 *
 * @returns false when there is no pager: the caller then prints
 */
export async function page(
  text: string,
  environment: Record<string, string | undefined> = process.env,
): Promise<boolean> {
  // -R passes colours on; -F ends at once when the text fits; -X leaves it on the screen.
  const command = environment['PAGER'] || 'less -RFX'
  const child = spawn(command, { shell: true, stdio: ['pipe', 'inherit', 'ignore'] })
  const { promise, resolve } = Promise.withResolvers<boolean>()
  child.on('error', () => resolve(false))
  // A shell ends with 127 when it does not find the command.
  child.on('close', (code) => resolve(code !== 127))
  // Whoever leaves the pager early reads no further.
  child.stdin.on('error', () => {})
  child.stdin.end(text)
  return promise
}
