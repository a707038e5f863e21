/**
 * The line editor under the prompt: Node's readline, plus programs of many lines in one edit,
 * pasting as one edit, and keys that wait while a line is at work.
 *
 * Not `node:repl`: it runs everything in a `domain`, and a domain makes every promise about 75
 * times slower.
 */
import { type Completer, createInterface, type Interface, type Key } from 'node:readline'
import type { Completion } from './complete.ts'
import { methodNamed } from './inner.ts'
import { painter } from './painter.ts'
import { type Search, searchHistory } from './search.ts'

export type EditorOptions = {
  input: NodeJS.ReadableStream & { isTTY?: boolean; setRawMode?: (on: boolean) => unknown }
  output: NodeJS.WritableStream & { isTTY?: boolean; columns?: number }
  prompt: string
  /** Earlier entries, newest first. */
  history: string[]
  complete(text: string): Promise<Completion>
  /** False while the text needs more lines. */
  isComplete(text: string): boolean
  /** Colour the line as it is typed. Default false. */
  colors?: boolean
  /** A whole entry. The editor is still until it settles. */
  onEntry(text: string): Promise<void>
  /** Ctrl-C, whether an entry is at work or not. */
  onInterrupt(): void
  onClose(): void
}

export type Editor = {
  /**
   * Let the terminal send SIGINT for Ctrl-C while code runs that gives the editor no turn. When
   * SIGINT broke that code, nothing of it runs any more: call `inRawMode` then.
   */
  withoutRawMode<T>(work: () => T): T
  inRawMode(): void
  /** Give the terminal to another program. Undefined, and nothing done, when keys wait already. */
  lend<T>(work: () => Promise<T>): Promise<T | undefined>
  /** Show the prompt again, for example behind output that came late. */
  refresh(): void
  close(): void
}

/** What readline has under its underscore names, and under symbols, since Node 24. */
type Inner = Interface & {
  _ttyWrite(text: string | undefined, key: Key): void
  history: string[]
  cursor: number
  line: string
}

/** Start reading. */
export function startEditor(options: EditorOptions): Editor {
  const { input, output } = options
  const terminal = output.isTTY === true && input.isTTY === true
  // A terminal that knows no escape sequence gets none.
  const able = terminal && process.env['TERM'] !== 'dumb'
  const completer = ((text: string, done: (error: Error | null, found: Completion) => void) => {
    const all = rl.line.includes('\n') ? rl.line.slice(0, rl.cursor) : text
    options.complete(all).then(
      (found) => done(null, found),
      () => done(null, [[], '']),
    )
  }) as unknown as Completer
  const rl = createInterface({
    input,
    output,
    terminal,
    prompt: options.prompt,
    completer,
    historySize: 1000,
    tabSize: 2,
  }) as Inner
  const setLine = methodNamed(rl, '_setLine')
  const held: [text: string | undefined, key: Key][] = []
  let atWork = false
  let buffered = ''
  let pasting: string | null = null
  let askedToLeave = false
  let closed = false

  const showHistory = () => {
    // Entries with their line breaks: the form in which readline keeps its own would not be found
    // by its first word.
    if (terminal) rl.history = options.history.slice(0, 1000)
  }
  const enter = async (entry: string) => {
    atWork = true
    try {
      await options.onEntry(entry)
    } finally {
      atWork = false
      showHistory()
      if (!closed) {
        rl.setPrompt(options.prompt)
        rl.prompt()
        release()
      }
    }
  }
  const release = () => {
    while (!atWork && held.length > 0) {
      const [text, key] = held.shift()!
      press(text, key)
    }
    if (!atWork && !terminal) nextLine()
  }

  const paint = options.colors && able ? painter(rl, options.prompt, output) : () => {}
  let search: Search | null = null
  let sought = ''
  const draw = (prompt: string, line: string, cursor: number) => {
    rl.setPrompt(prompt)
    setLine?.call(rl, line)
    rl.cursor = cursor
    methodNamed(rl, '_refreshLine')?.call(rl)
  }
  let before = { line: '', cursor: 0 }
  const startSearch = () => {
    before = { line: rl.line, cursor: rl.cursor }
    search = searchHistory(options.history, before, sought)
    show(search)
  }
  const show = (one: Search) => {
    const { prompt, line, cursor } = one.shown()
    draw(prompt, line, cursor)
  }
  /** True when the key was for the search alone. */
  const searching = (text: string | undefined, key: Key): boolean => {
    if (search === null || pasting !== null || key.name?.startsWith('paste-')) return false
    const answer = search.press(text, key)
    if (answer === 'searching') show(search)
    if (answer === 'searching') return true
    const { line, cursor } = answer === 'taken' ? search.shown() : before
    sought = search.query() || sought
    search = null
    draw(options.prompt, line, cursor)
    return answer === 'left' || key.name === 'escape'
  }

  const ttyWrite = rl._ttyWrite.bind(rl)
  const press = (text: string | undefined, key: Key) => {
    if (searching(text, key)) return
    const many = setLine && !key.ctrl && !key.meta && rl.line.includes('\n')
    if (key.ctrl && key.name === 'r' && able && setLine && pasting === null) startSearch()
    else if (key.name === 'paste-start') pasting = ''
    else if (key.name === 'paste-end') {
      const pasted = pasting ?? ''
      pasting = null
      if (search) {
        search.paste(pasted)
        show(search)
      } else insert(pasted.replace(/\r\n?/g, '\n'))
    } else if (pasting !== null) {
      pasting += text ?? key.sequence ?? ''
    } else if (
      (key.name === 'return' || key.name === 'enter') &&
      setLine &&
      wantsMore(rl.line, key)
    ) {
      insert('\n')
    } else if (many && (key.name === 'up' || key.name === 'down')) {
      upOrDown(key.name)
    } else {
      if (!(key.ctrl && key.name === 'c')) askedToLeave = false
      ttyWrite(text, key)
      paint()
      // Readline forgets the row when a character at the end of the line begins a new one.
      if (able) (rl as unknown as { prevRows: number }).prevRows = rl.getCursorPos().rows
    }
  }
  // Readline takes the rows of a long line for lines, and throws: keys that came with it were lost.
  const upOrDown = (name: string) => {
    const [before, lines] = [rl.line.slice(0, rl.cursor).split('\n'), rl.line.split('\n')]
    const to = before.length - (name === 'up' ? 2 : 0)
    const column = Math.min(before.at(-1)!.length, lines[to]?.length ?? 0)
    if (to in lines) rl.cursor = lines.slice(0, to).join('\n').length + Math.min(to, 1) + column
    const then = to in lines ? '_refreshLine' : to < 0 ? '_historyPrev' : '_historyNext'
    methodNamed(rl, then)?.call(rl)
    paint()
  }
  const wantsMore = (line: string, key: Key) =>
    key.meta === true || (line.trim() !== '' && !options.isComplete(line))
  const insert = (text: string) => {
    const whole = rl.line.slice(0, rl.cursor) + text + rl.line.slice(rl.cursor)
    const cursor = rl.cursor + text.length
    if (setLine) {
      setLine.call(rl, whole)
      rl.cursor = cursor
      methodNamed(rl, '_refreshLine')?.call(rl)
    } else for (const line of text.split(/(?<=\n)/)) rl.write(line)
  }
  if (terminal) {
    rl._ttyWrite = (text, key = {}) => {
      if (!atWork) return press(text, key)
      if (key.ctrl && key.name === 'c') return options.onInterrupt()
      held.push([text, key])
    }
    if (able) output.write('\x1b[?2004h')
  }

  const lines: string[] = []
  const nextLine = () => {
    const line = lines.shift()
    if (line !== undefined) accept(line)
    else if (closed) finish()
  }
  const accept = (line: string) => {
    const entry = buffered + line
    if (entry.trim() !== '' && !options.isComplete(entry) && !(setLine && terminal)) {
      buffered = `${entry}\n`
      rl.setPrompt('| ')
      rl.prompt()
      if (!terminal) nextLine()
      return
    }
    buffered = ''
    if (entry.trim() === '') {
      rl.prompt()
      if (!terminal) nextLine()
    } else void enter(entry)
  }
  rl.on('line', (line) => {
    // Readline puts `\r` between the lines of one edit.
    if (terminal) return accept(line.replace(/\r\n?/g, '\n'))
    lines.push(line)
    if (!atWork) nextLine()
  })
  rl.on('SIGINT', () => {
    options.onInterrupt()
    const empty = rl.line === '' && buffered === ''
    buffered = ''
    if (empty && askedToLeave) return rl.close()
    askedToLeave = empty
    // The cursor may be in the middle of many lines.
    rl.cursor = rl.line.length
    methodNamed(rl, '_refreshLine')?.call(rl)
    output.write(empty ? '\n(again, Ctrl-D or .exit to leave)\n' : '\n')
    setLine ? setLine.call(rl, '') : (rl.line = '')
    rl.cursor = 0
    ;(rl as unknown as { prevRows: number }).prevRows = 0
    rl.setPrompt(options.prompt)
    rl.prompt()
  })
  let finished = false
  const finish = () => {
    if (finished) return
    finished = true
    if (terminal) output.write(able ? '\x1b[?2004l\n' : '\n')
    options.onClose()
  }
  rl.on('close', () => {
    closed = true
    if (terminal || (!atWork && lines.length === 0)) finish()
  })
  showHistory()
  rl.prompt()

  const inRawMode = () => {
    if (terminal && !closed) input.setRawMode?.(true)
  }
  return {
    withoutRawMode(work) {
      if (terminal) input.setRawMode?.(false)
      try {
        return work()
      } finally {
        inRawMode()
      }
    },
    inRawMode,
    async lend(work) {
      // Two turns: what was typed while code gave the editor none is read, and is not the pager's.
      for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate)
      if (!terminal || held.length > 0) return undefined
      rl.pause()
      input.setRawMode?.(false)
      return work().finally(() => {
        inRawMode()
        if (!closed) rl.resume()
      })
    },
    refresh: () => void (atWork || closed || rl.prompt(true)),
    close: () => rl.close(),
  }
}
