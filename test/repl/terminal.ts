/** A program in a real terminal: tmux holds the screen, keys go in, and what a person would see comes out. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { temporaryFolder } from '../temporary.ts'

export type Terminal = {
  /** Text as it is typed, key by key. */
  type(text: string): void
  /** Text and Enter. */
  enter(text: string): void
  /** Keys by their tmux names: Enter, Tab, C-c, Up. */
  press(...keys: string[]): void
  /** Text as a terminal pastes it. */
  paste(text: string): void
  screen(): string
  /** The screen with its escape sequences for colour. */
  coloured(): string
  /** Where the cursor stands, column and row from 0. */
  cursor(): string
  /** Wait until the screen shows something. Fails with the screen when it does not within the bound. */
  shows(pattern: RegExp, boundMs?: number): Promise<string>
  /** Wait until the program has ended. tmux says so at once, and writes it on the screen only when it has reaped the process. */
  ends(boundMs?: number): Promise<void>
  close(): void
}

/** Only what never comes takes so long: a machine may be busy with other things. */
export const BOUND_MS = 60_000

/** Why the terminal tests cannot run here, if they cannot. */
export function withoutTmux(): string | false {
  try {
    execFileSync('tmux', ['-V'])
    return false
  } catch {
    return 'tmux is not installed'
  }
}

/** Start a program in a terminal of its own. */
export function openTerminal(command: string, size = { columns: 90, rows: 50 }): Terminal {
  const socket = join(temporaryFolder('tmux'), 's')
  const tmux = (...args: string[]) =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' })
  tmux('new-session', '-d', '-x', String(size.columns), '-y', String(size.rows), command)
  tmux('set-option', '-g', 'remain-on-exit', 'on')
  const screen = () => tmux('capture-pane', '-p', '-S', '-200').trimEnd()
  // A semicolon at the end would end tmux's own command.
  const type = (text: string) => void tmux('send-keys', '-l', '--', text.replace(/;$/, '\\;'))
  const press = (...keys: string[]) => void tmux('send-keys', ...keys)
  return {
    type,
    press,
    enter(text) {
      type(text)
      press('Enter')
    },
    paste(text) {
      tmux('set-buffer', '--', text)
      tmux('paste-buffer', '-p')
    },
    screen,
    coloured: () => tmux('capture-pane', '-p', '-e').trimEnd(),
    cursor: () => tmux('display', '-p', '#{cursor_x},#{cursor_y}').trim(),
    async shows(pattern, boundMs = BOUND_MS) {
      const end = performance.now() + boundMs
      for (;;) {
        const seen = screen()
        if (pattern.test(seen)) return seen
        if (performance.now() > end)
          throw new Error(`expected ${pattern} on the screen, got:\n${seen}`)
        await wait(20)
      }
    },
    async ends(boundMs = BOUND_MS) {
      const end = performance.now() + boundMs
      while (tmux('display', '-p', '#{pane_dead}').trim() !== '1') {
        if (performance.now() > end)
          throw new Error(`expected the program to end, got:\n${screen()}`)
        await wait(20)
      }
    },
    close: () => void tmux('kill-server'),
  }
}
