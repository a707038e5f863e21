import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../temporary.ts'
import { BOUND_MS, openTerminal, type Terminal, withoutTmux } from './terminal.ts'

const MAIN = fileURLToPath(new URL('prompt-main.ts', import.meta.url))

type Setting = {
  /** Earlier entries, oldest first. */
  history?: string[]
  size?: { columns: number; rows: number }
  /** Environment, as words in front of the command. */
  env?: string
}

/** A test with a prompt in a terminal and a folder of its own. */
function atPrompt(
  rule: string,
  drive: (terminal: Terminal, folder: string) => Promise<void>,
  { history, size, env = '' }: Setting = {},
): void {
  test(rule, async () => {
    const folder = temporaryFolder()
    const kept = join(folder, 'history')
    if (history) writeFileSync(kept, history.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
    const terminal = openTerminal(
      `cd ${folder} && TERM=xterm-256color ${env} ${process.execPath} ${MAIN} ${kept}`,
      size,
    )
    try {
      await terminal.shows(/ready\n>$/m)
      await drive(terminal, folder)
    } finally {
      terminal.close()
    }
  })
}

/** Wait until two terminals show the same. Fails with both when they do not within the bound. */
async function same(both: readonly [Terminal, Terminal], what: string): Promise<void> {
  const end = performance.now() + BOUND_MS
  for (;;) {
    const [a, b] = both.map((one) => `${one.screen()}\n${one.cursor()}`)
    if (a === b) return
    if (performance.now() > end) assert.equal(a, b, what)
    await wait(50)
  }
}

/** Wait until no `~` is on the screen. */
async function gone(terminal: Terminal): Promise<void> {
  const end = performance.now() + BOUND_MS
  while (terminal.screen().includes('~')) {
    if (performance.now() > end) assert.fail(terminal.screen())
    await wait(50)
  }
}

const LOOP = 'for (const n of [41, 3]) {\nconsole.log("n", n)\n}'

describe('the prompt in a terminal', { skip: withoutTmux(), concurrency: 4 }, () => {
  atPrompt('a value is shown, and its name may be declared again', async (terminal) => {
    terminal.enter('const a: number = 2')
    terminal.enter('const a = [a0(), 3]; function a0(): number { return 41 }')
    terminal.enter('a')
    await terminal.shows(/^\[ 41, 3 \]$/m)
  })
  atPrompt('a program of many lines is one entry', async (terminal) => {
    for (const line of LOOP.split('\n')) terminal.enter(line)
    await terminal.shows(/\| \}\nn 41\nn 3\n>/)
  })
  atPrompt('pasted lines are one entry, run at Enter', async (terminal) => {
    terminal.paste('const p = [\n  1,\n\t2]\np.map((n) => n * 10)')
    await terminal.shows(/\| p\.map/)
    terminal.press('Enter')
    await terminal.shows(/^\[ 10, 20 \]$/m)
  })
  atPrompt('Tab completes a member', async (terminal) => {
    terminal.type('display.dur')
    terminal.press('Tab')
    await terminal.shows(/> display\.duration$/m)
    terminal.enter('(1500)')
    await terminal.shows(/^'1\.5 s'$/m)
    terminal.enter('const towns = [{ inland: 1 }]')
    await terminal.shows(/inland: 1 \}\]\n>$/m)
    terminal.type('towns[0].inl')
    terminal.press('Tab')
    await terminal.shows(/> towns\[0\]\.inland$/m)
  })
  atPrompt(
    'Ctrl-C stops the line and tells the call; what was typed ahead runs',
    async (terminal) => {
      terminal.enter('await slow()')
      await terminal.shows(/^the call waits$/m)
      terminal.enter('"typed " + "ahead"')
      terminal.press('C-c')
      await terminal.shows(
        /(the call was told\nstopped|stopped\nthe call was told)\n> "typed " \+ "ahead"\n'typed ahead'/,
      )
    },
  )
  atPrompt('Ctrl-C stops code that never awaits', async (terminal) => {
    terminal.enter('console.log("spin"); while (true) {}')
    await terminal.shows(/^spin$/m)
    terminal.press('C-c')
    await terminal.shows(/^spin\n(\^C)?stopped\n>/m)
  })
  atPrompt('a SIGINT stops the line at work, and ends the prompt never', async (terminal) => {
    terminal.enter('const interrupt = () => process.kill(process.pid, "SIGINT")')
    terminal.enter('setTimeout(interrupt, 1); await slow()')
    await terminal.shows(/(the call was told\nstopped|stopped\nthe call was told)\n>/)
    terminal.enter('setTimeout(() => { interrupt(); setTimeout(console.log, 1, "sent") }, 1); 0')
    await terminal.shows(/\bsent$/m)
    terminal.enter('"still " + "here"')
    await terminal.shows(/^'still here'$/m)
  })
  atPrompt(
    'an error shows the lines that it came from; .trace shows its stack',
    async (terminal) => {
      terminal.paste('function f(a) {\n  return a.foo.bar\n}')
      terminal.press('Enter')
      terminal.enter('f(3)')
      await terminal.shows(
        /^TypeError: .*\n {2}f, prompt-1\n {2}2 │ {3}return a\.foo\.bar\n {4}│ {16}\^\n {2}prompt-2\n {2}1 │ f\(3\)\n.*\n>/m,
      )
      terminal.enter('.trace')
      const screen = await terminal.shows(/^ {4}at prompt-2:1:2\n>/m)
      assert.match(screen, /^TypeError: .*\n {4}at f prompt-1:2:16\n {4}at prompt-2:1:2\n>$/m)
    },
  )
  atPrompt(
    'what is longer than the screen goes to the pager, unless keys wait already',
    async (terminal) => {
      terminal.enter('??display.table')
      await terminal.shows(/^paged export function table/m)
      terminal.enter('Array.from({ length: 40 }, (_, n) => "line " + n)')
      await terminal.shows(/^paged .*'line 39'/m)
      terminal.enter('"short " + "text"')
      await terminal.shows(/^'short text'$/m)
    },
    { size: { columns: 60, rows: 12 }, env: 'PAGER=\'sed "s/^/paged /"\'' },
  )
  atPrompt(
    'what was typed while code gave no turn is not the pager’s',
    async (terminal, folder) => {
      const gate = join(folder, 'typed')
      terminal.enter('import { existsSync } from "node:fs"')
      terminal.enter(
        `console.log("busy"); while (!existsSync(${JSON.stringify(gate)})); Array.from({ length: 40 }, (_, n) => "line " + n)`,
      )
      await terminal.shows(/^busy$/m)
      terminal.type('"typed " + "ahead"')
      // The terminal itself shows what is typed meanwhile.
      await terminal.shows(/^"typed " \+ "ahead"/m)
      writeFileSync(gate, '')
      terminal.press('Enter')
      const screen = await terminal.shows(/^'typed ahead'$/m)
      assert.doesNotMatch(screen, /paged/)
    },
    { size: { columns: 60, rows: 12 }, env: 'PAGER=\'sed "s/^/paged /"\'' },
  )
  atPrompt('an error that comes late does not end the session', async (terminal) => {
    terminal.enter('setTimeout(() => { throw new Error("late") }, 1); 0')
    await terminal.shows(/^Error: late/m)
    terminal.enter('"still " + "here"')
    await terminal.shows(/^'still here'$/m)
  })
  atPrompt('?name shows the description and the example', async (terminal) => {
    terminal.enter('?display.duration')
    await terminal.shows(/Milliseconds as a person reads them/)
  })
  atPrompt('.time says how long, .plot draws what is named', async (terminal) => {
    terminal.enter('.time 1 + 1')
    await terminal.shows(/^2\n\d+(\.\d+)? ms$/m)
    terminal.enter('.plot drawn heat')
    await terminal.shows(/^'a picture of kind heat'$/m)
  })
  atPrompt('help without its dot helps too, and fits a screen', async (terminal) => {
    terminal.enter('help')
    const screen = await terminal.shows(/\.exit +leave/)
    const page = screen.slice(screen.lastIndexOf('\nTry\n'))
    assert.ok(page.split('\n').length <= 24, page)
  })
  atPrompt('an unknown command names the known ones', async (terminal) => {
    terminal.enter('.nothing')
    await terminal.shows(/usage: expected one of \.help/)
  })
  atPrompt('.save writes what ran as a notebook, and not over a file', async (terminal, folder) => {
    for (const line of LOOP.split('\n')) terminal.enter(line)
    terminal.enter('throw new RangeError("too far")')
    terminal.enter('.save session.ts')
    await terminal.shows(/1 cells in .*session\.ts/)
    const text = readFileSync(join(folder, 'session.ts'), 'utf8')
    assert.match(text, /^\/\/ %% \[markdown\]\n/)
    assert.ok(text.includes(`// %%\n${LOOP}\n`), text)
    assert.doesNotMatch(text, /too far/)
    terminal.enter('.save session.ts')
    await terminal.shows(/file_exists/)
  })
  atPrompt('.load runs the cells of a notebook', async (terminal, folder) => {
    writeFileSync(join(folder, 'session.ts'), `// %%\n${LOOP}\n`)
    terminal.enter('.load session.ts')
    await terminal.shows(/^n 41\nn 3\n/m)
  })
  atPrompt('what was typed is kept for the next session', async (terminal, folder) => {
    for (const line of LOOP.split('\n')) terminal.enter(line)
    await terminal.shows(/^n 3$/m)
    assert.deepEqual(readFileSync(join(folder, 'history'), 'utf8').split('\n'), [
      JSON.stringify(LOOP),
      '',
    ])
  })
  atPrompt(
    'Up brings back an entry of many lines as it was',
    async (terminal) => {
      terminal.type('for')
      terminal.press('Up')
      await terminal.shows(/> for \(const n of \[41, 3\]\) \{\n\| console\.log\("n", n\)\n\| \}/)
    },
    { history: [LOOP, '1 + 1'] },
  )
  atPrompt(
    'an entry of the history that a terminal would obey, or not show, is offered by neither Up nor Ctrl-R',
    async (terminal) => {
      terminal.press('Up')
      await terminal.shows(/^> "kept"$/m)
      terminal.press('Up')
      await terminal.shows(/^> "kept first"$/m)
      terminal.press('C-u', 'C-r')
      terminal.type('hidden')
      await terminal.shows(/\(failed reverse-i-search\)`hidden':/)
    },
    {
      history: [
        '"kept first"',
        '"hidden \u001b[2J\u001b]0;title\u0007"',
        '"hidden \u009b31m"',
        '"hidden \u202e"',
        '"hidden \u2028"',
        '"hidden\r"',
        '"kept"',
      ],
    },
  )
  const KEPT = ['const town = "日本"', '1 + 41', LOOP, '"b" + 1', '1 + 41', '"a" + "b"']
  atPrompt(
    'Ctrl-R searches what was typed, again goes on to an older entry, Enter runs what was found',
    async (terminal) => {
      terminal.press('C-r')
      await terminal.shows(/\(reverse-i-search\)`':$/m)
      terminal.type('1')
      await terminal.shows(/\(reverse-i-search\)`1': 1 \+ 41$/m)
      terminal.press('C-r')
      await terminal.shows(/`1': "b" \+ 1$/m)
      terminal.press('C-r')
      await terminal.shows(/`1': for \(const n of \[41, 3\]\) \{\n\| console/)
      terminal.press('C-s')
      await terminal.shows(/`1': "b" \+ 1$/m)
      terminal.press('Enter')
      await terminal.shows(/^> "b" \+ 1\n'b1'\n>$/m)
      // An empty query takes the last one.
      terminal.press('C-r')
      terminal.press('C-r')
      await terminal.shows(/`1': "b" \+ 1$/m)
      terminal.press('C-g')
      await terminal.shows(/'b1'\n>$/m)
    },
    { history: KEPT },
  )
  atPrompt(
    'an arrow or Esc takes what was found into the line, to be edited',
    async (terminal) => {
      terminal.press('C-r')
      terminal.type('town')
      await terminal.shows(/`town': const town = "日本"$/m)
      terminal.press('End')
      await terminal.shows(/^> const town = "日本"$/m)
      terminal.enter(' + "東京"')
      terminal.enter('town')
      await terminal.shows(/^'日本東京'$/m)
      terminal.press('C-r')
      terminal.type('LOOP no such')
      await terminal.shows(/\(failed reverse-i-search\)`LOOP no such':/)
      for (let i = 0; i < 20; i++) terminal.press('BSpace')
      terminal.type('for (')
      await terminal.shows(/`for \(': for \(const n of/)
      terminal.press('Escape')
      await terminal.shows(/^> for \(const n of \[41, 3\]\) \{\n\| console.*\n\| \}$/m)
      terminal.press('Enter')
      await terminal.shows(/^n 41\nn 3\n/m)
    },
    { history: KEPT },
  )
  atPrompt(
    'Ctrl-G and Ctrl-C leave the search with the line as it was; a paste is searched for',
    async (terminal) => {
      for (const leave of ['C-g', 'C-c']) {
        terminal.type('half typed')
        terminal.press('Left', 'Left')
        const at = terminal.cursor
        await terminal.shows(/> half typed$/m)
        terminal.press('C-r')
        terminal.paste('"a"\nsecond line')
        await terminal.shows(/`"a"': "a" \+ "b"$/m)
        terminal.press(leave)
        await terminal.shows(/^> half typed$/m)
        assert.match(at(), /^10,/)
        terminal.press('End', 'C-u')
      }
      terminal.enter('"still " + "here"')
      await terminal.shows(/^'still here'$/m)
    },
    { history: KEPT },
  )
  atPrompt('code is coloured as it is typed, and a command is not', async (terminal) => {
    terminal.type('const a = "b" // c')
    await terminal.shows(/\/\/ c$/m)
    const [, line] = /^(> .*)$/m.exec(terminal.coloured()) ?? []
    assert.match(
      line ?? '',
      /\u001b\[35mconst\u001b\[39m a = \u001b\[32m"b"\u001b\[(39;)?.*90m\/\/ c/,
    )
    terminal.press('C-u')
    terminal.type('.help const')
    await terminal.shows(/> \.help const$/m)
    assert.doesNotMatch(/^> .*$/m.exec(terminal.coloured())?.[0] ?? '', /\u001b\[35m/)
  })
  for (const env of ['NO_COLOR=1', 'TERM=dumb'])
    atPrompt(
      `${env}: no colour`,
      async (terminal) => {
        terminal.type('const a = "b"')
        const screen = await terminal.shows(/"b"$/m)
        assert.ok(screen)
        assert.doesNotMatch(terminal.coloured(), /\u001b\[3[0-7]m/)
        terminal.enter('')
        terminal.enter('a + a')
        await terminal.shows(/^'bb'$/m)
      },
      { env },
    )
  test('with colours and without, every edit leaves the same characters and the same cursor', async () => {
    const size = { columns: 40, rows: 12 }
    const steps: ((terminal: Terminal) => unknown)[] = [
      (t) => t.type('const 町 = ["日本", `x'),
      (t) => t.press('Left', 'Left', 'Left', 'BSpace'),
      (t) => t.type('é 👩‍🚀" + \'of'),
      (t) => t.press('Home', 'C-k'),
      (t) => t.type('const words = "a text that is longer than the screen is wide" + 1234567'),
      (t) => t.press('M-b'),
      (t) => t.type('9'),
      (t) => t.press('End'),
      (t) => t.type(' /* and'),
      (t) => t.press('Enter'),
      (t) => t.type('more */ + `'),
      (t) => t.press('Enter'),
      (t) => t.type('x` + display.dur'),
      (t) => {
        t.press('Tab')
        return t.shows(/display\.duration/)
      },
      (t) => t.press('Up', 'Left', 'BSpace'),
      (t) => t.press('Down', 'C-a'),
      (t) => t.press('C-c'),
      (t) => t.paste('for (const n of [1,\n2]) {\n  n /2/ 1\n}'),
      (t) => t.press('Up', 'Up', 'C-e', 'C-h'),
    ]
    const open = (env: string) =>
      openTerminal(`${env} TERM=xterm-256color ${process.execPath} ${MAIN}`, size)
    const both = [open(''), open('NO_COLOR=1')] as const
    try {
      for (const one of both) await one.shows(/ready\n>$/m)
      for (const [i, step] of steps.entries()) {
        for (const one of both) await step(one)
        // Keys are known to be through when a later one shows.
        for (const one of both) one.type('~')
        const seen: string[] = []
        for (const one of both) seen.push(`${await one.shows(/~/)}\n${one.cursor()}`)
        await same(both, `step ${i}`)
        for (const one of both) one.press('BSpace')
        for (const one of both) await gone(one)
        await same(both, `step ${i}, taken back`)
      }
      assert.match(both[0].coloured(), /\u001b\[35m/)
      assert.doesNotMatch(both[1].coloured(), /\u001b\[35m/)
    } finally {
      for (const one of both) one.close()
    }
  })
  atPrompt(
    'Up and Down go a line up and down in an edit of many lines, also past one that is wider than the screen',
    async (terminal) => {
      terminal.type(`const a = '${'wide '.repeat(14)}' + `)
      terminal.press('M-Enter')
      terminal.type('`bc`')
      terminal.press('M-Enter')
      terminal.type('+ 0')
      // In one go, so that they come in one piece.
      terminal.press('Up', 'BSpace', 'BSpace', 'd', 'Down', 'e', 'Up', 'Up', '~')
      const screen = await terminal.shows(/~/)
      assert.match(screen.replaceAll('\n', ''), /> con~st a = .*\| `d`\| \+ e0/)
    },
    { size: { columns: 30, rows: 20 } },
  )
  atPrompt('Ctrl-D leaves', async (terminal) => {
    terminal.press('C-d')
    await terminal.ends()
  })
  atPrompt(
    'NO_COLOR is respected, and a narrow terminal gets narrow lines',
    async (terminal) => {
      terminal.enter('Array.from({ length: 30 }, (_, n) => "case-" + n)')
      const screen = await terminal.shows(/case-29.*\n\]/)
      for (const line of screen.split('\n').slice(3)) assert.ok(line.length <= 50, line)
    },
    { size: { columns: 50, rows: 40 }, env: 'NO_COLOR=1' },
  )
})
