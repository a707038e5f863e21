import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openTerminal, type Terminal, withoutTmux } from './terminal.ts'

const MAIN = fileURLToPath(new URL('prompt-main.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'touchstone-'))
const open = (history = 'null', size?: { columns: number; rows: number }, env = '') =>
  openTerminal(
    `cd ${folder} && ${env} TERM=xterm-256color ${process.execPath} ${MAIN} ${history}`,
    size,
  )
const skip = withoutTmux()
const enter = (terminal: Terminal, text: string) => {
  terminal.type(text)
  terminal.press('Enter')
}

describe('the prompt in a terminal', { skip }, () => {
  let terminal: Terminal
  before(() => {
    terminal = open(join(folder, 'history'))
  })
  after(() => terminal?.close())

  test('a value is shown, and its name may be declared again', async () => {
    await terminal.shows(/ready\n>$/m)
    enter(terminal, 'const a: number = 2')
    enter(terminal, 'const a = [a0(), 3]; function a0(): number { return 41 }')
    enter(terminal, 'a')
    await terminal.shows(/^\[ 41, 3 \]$/m)
  })
  test('a program of many lines is one entry', async () => {
    enter(terminal, 'for (const n of a) {')
    enter(terminal, 'console.log("n", n)')
    enter(terminal, '}')
    await terminal.shows(/\| \}\nn 41\nn 3\n>/)
  })
  test('pasted lines are one entry, run at Enter', async () => {
    terminal.paste('const p = [\n  1,\n\t2]\np.map((n) => n * 10)')
    await terminal.shows(/\| p\.map/)
    terminal.press('Enter')
    await terminal.shows(/^\[ 10, 20 \]$/m)
  })
  test('Tab completes a member', async () => {
    terminal.type('display.dur')
    terminal.press('Tab')
    await terminal.shows(/> display\.duration$/m)
    enter(terminal, '(1500)')
    await terminal.shows(/^'1\.5 s'$/m)
  })
  test('Ctrl-C stops the line, tells the call, and what was typed ahead runs', async () => {
    enter(terminal, 'await slow()')
    enter(terminal, '"typed " + "ahead"')
    terminal.press('C-c')
    // The terminal itself echoes what is typed while the line is at work, unless that was read before.
    await terminal.shows(
      /> await slow\(\)\n(?:"typed " \+ "ahead"\n?)?(the call was told\nstopped|stopped\nthe call was told)\n> "typed " \+ "ahead"\n'typed ahead'/,
    )
  })
  test('Ctrl-C stops code that never awaits', async () => {
    enter(terminal, 'console.log("spin"); while (true) {}')
    await terminal.shows(/^spin$/m)
    terminal.press('C-c')
    await terminal.shows(/^spin\n(\^C)?stopped\n>/m)
  })
  test('an error is one paragraph, and .trace shows its stack', async () => {
    enter(terminal, 'throw new RangeError("too far")')
    await terminal.shows(/^RangeError: too far \(line 1\)\n>/m)
    enter(terminal, '.trace')
    await terminal.shows(/RangeError: too far\n +at /)
  })
  test('an error that comes late does not end the session', async () => {
    enter(terminal, 'setTimeout(() => { throw new Error("late") }, 1); 0')
    await terminal.shows(/^Error: late/m)
    enter(terminal, '"still " + "here"')
    await terminal.shows(/^'still here'$/m)
  })
  test('?name shows the description and the example', async () => {
    enter(terminal, '?display.percent')
    await terminal.shows(/A share as a whole percentage/)
  })
  test('.time says how long, .plot draws what is named', async () => {
    enter(terminal, '.time 1 + 1')
    await terminal.shows(/^2\n\d+(\.\d+)? ms$/m)
    enter(terminal, '.plot drawn heat')
    await terminal.shows(/^'a picture of kind heat'$/m)
  })
  test('help without its dot helps too', async () => {
    enter(terminal, 'help')
    await terminal.shows(/\.exit +leave/)
  })
  test('.help fits a screen', async () => {
    enter(terminal, '.help')
    const screen = await terminal.shows(/\.exit +leave/)
    const page = screen.slice(screen.lastIndexOf('\nTry\n'))
    assert.ok(page.split('\n').length <= 24, page)
  })
  test('an unknown command names the known ones', async () => {
    enter(terminal, '.nothing')
    await terminal.shows(/usage: expected one of \.help/)
  })
  test('.save writes what ran as a notebook, and not over a file', async () => {
    enter(terminal, '.save session.ts')
    await terminal.shows(/cells in .*session\.ts/)
    const text = readFileSync(join(folder, 'session.ts'), 'utf8')
    assert.match(text, /^\/\/ %% \[markdown\]\n/)
    assert.match(text, /\/\/ %%\nfor \(const n of a\) \{\nconsole\.log\("n", n\)\n\}\n/)
    assert.doesNotMatch(text, /too far/)
    enter(terminal, '.save session.ts')
    await terminal.shows(/file_exists/)
  })
  test('Ctrl-D leaves', async () => {
    terminal.press('C-d')
    await terminal.ends()
  })
})

describe('the prompt, started again', { skip }, () => {
  let terminal: Terminal
  before(() => {
    terminal = open(join(folder, 'history'))
  })
  after(() => terminal?.close())

  test('Up brings back an entry of many lines as it was', async () => {
    await terminal.shows(/ready\n>$/m)
    terminal.type('for')
    terminal.press('Up')
    await terminal.shows(/> for \(const n of a\) \{\n\| console\.log\("n", n\)\n\| \}/)
    terminal.press('C-c')
  })
  test('.load runs the cells of a notebook', async () => {
    assert.ok(existsSync(join(folder, 'session.ts')))
    await terminal.shows(/>$/)
    enter(terminal, '.load session.ts')
    await terminal.shows(/^n 41\nn 3\n/m)
  })
})

describe('the prompt without colour', { skip }, () => {
  test('NO_COLOR is respected, and a narrow terminal gets narrow lines', async () => {
    const terminal = open('null', { columns: 50, rows: 40 }, 'NO_COLOR=1')
    try {
      await terminal.shows(/ready\n>$/m)
      enter(terminal, 'Array.from({ length: 30 }, (_, n) => "case-" + n)')
      const screen = await terminal.shows(/case-29.*\n\]/)
      for (const line of screen.split('\n').slice(3)) assert.ok(line.length <= 50, line)
    } finally {
      terminal.close()
    }
  })
})
