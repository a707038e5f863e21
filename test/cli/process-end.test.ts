/** How the program ends when code, its reader or the machine does something unhoped for. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { temporaryFolder } from '../temporary.ts'

const program = resolve(import.meta.dirname, '..', '..', 'repl.ts')
const made = temporaryFolder('ending')

function touchstone(args: string[], env: { [name: string]: string } = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: made,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    input: '',
  })
  return { status, stdout, stderr }
}
function notebook(name: string, ...cells: string[]): string {
  writeFileSync(join(made, `${name}.ts`), cells.map((cell) => `// %%\n${cell}\n`).join(''))
  return `${name}.ts`
}

describe('a script', () => {
  const endings: [rule: string, code: string, status: number, stdout: string, stderr: string][] = [
    ['that throws what is no error shows it', 'throw null', 1, '', 'thrown null\n'],
    [
      'fails by an error that reaches nobody',
      "Promise.reject(new Error('unheard')); await forever()",
      1,
      '',
      "Error: unheard\n  2 │ Promise.reject(new Error('unheard')); await forever()\n    │                ^\n",
    ],
    [
      'fails by an error of a timer, also behind its end',
      "setTimeout(() => { throw new Error('late') }); 7",
      1,
      '7\n',
      'Error: late\n',
    ],
    [
      'that awaits what nothing is left to settle fails, and is told so',
      'await new Promise(() => {})',
      1,
      '',
      'never_settles: expected the code to end, got an await that nothing is left to settle\n',
    ],
    ['keeps the exit code that it set', 'process.exitCode = 4; 1', 4, '1\n', ''],
  ]
  for (const [rule, code, status, stdout, stderr] of endings) {
    it(rule, () => {
      const timer = 'const forever = () => new Promise((done) => setTimeout(done, 60_000))\n'
      const text = code.includes('forever') ? timer + code : code
      assert.deepEqual(touchstone(['-e', text]), { status, stdout, stderr })
    })
  }
})

describe('output whose reader has left', () => {
  const reading = async (args: string[], lines: number) => {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: made,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let errors = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    if (lines > 0) await once(child.stdout, 'data')
    child.stdout.destroy()
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
    return { code, signal, errors }
  }
  it('ends a script quietly', async () => {
    const endless = 'for (;;) { console.log(1); await new Promise((done) => setTimeout(done, 1)) }'
    for (const code of [endless, "'x\\n'.repeat(1e6)"])
      assert.deepEqual(await reading(['-e', code], 1), { code: 0, signal: null, errors: '' })
  })
  it('does not keep a verb from its work, nor from its exit code', async () => {
    assert.deepEqual(await reading(['scenarios', 'show', 'mcp-connection@1.0'], 0), {
      code: 0,
      signal: null,
      errors: '',
    })
    const { code, errors } = await reading(['probe', 'https://localhost/mcp'], 0)
    assert.equal(code, 3)
    assert.doesNotMatch(errors, /EPIPE|^\s+at /m)
  })
})

describe('a notebook', () => {
  it('whose cell leaves the process fails, names the cell and writes nothing', () => {
    const file = notebook('leaves', '1', 'process.exit(0)')
    assert.deepEqual(touchstone(['notebook', file, '--md', '--out', 'left']), {
      status: 1,
      stdout: '',
      stderr: `notebook_failed: expected every cell to run, got process.exit(0) in one; nothing is written (${file}:4)\n`,
    })
    assert.equal(existsSync(join(made, 'left')), false)
  })
  it('whose cell awaits what nothing is left to settle fails there, and is written', () => {
    const file = notebook('waits', '1', 'await new Promise(() => {})')
    const { status, stdout, stderr } = touchstone(['notebook', file, '--md', '--out', 'waited'])
    assert.deepEqual([status, stderr], [1, ''])
    assert.match(stdout, /1 of 2 cells[\s\S]*never_settles: /)
    assert.match(readFileSync(join(made, 'waited', 'waits.md'), 'utf8'), /never_settles/)
  })
  it('fails by an error that reaches nobody, at the cell that is at work', () => {
    const file = notebook(
      'unheard',
      "setTimeout(() => { throw new Error('late') })",
      'await new Promise((d) => setTimeout(d, 60_000))',
    )
    const { status, stdout, stderr } = touchstone(['notebook', file])
    assert.deepEqual([status, stderr], [1, ''])
    assert.match(stdout, /1 of 2 cells[\s\S]*Error: late \(line 2\)/)
  })
  it('given a parameter that it does not declare is refused, whatever the name', () => {
    const file = notebook('bare', '1')
    for (const name of ['__proto__', 'toString', 'n'])
      assert.match(
        touchstone(['notebook', file, '--set', `${name}=1`]).stderr,
        /^argument_invalid: expected a parameter/,
      )
  })
  it('that cannot be written is one line, and leaves no draft', () => {
    const file = notebook('written', '1')
    writeFileSync(join(made, 'taken'), '')
    const { status, stderr } = touchstone(['notebook', file, '--md', '--out', 'taken'])
    assert.deepEqual(
      [status, stderr],
      [2, 'file_unwritable: expected a place to write to, got EEXIST (taken)\n'],
    )
    assert.equal(touchstone(['notebook', file, '--md', '--html', '--out', 'whole']).status, 0)
    assert.deepEqual(readdirSync(join(made, 'whole')).sort(), ['written.html', 'written.md'])
  })
})

describe('a notebook that is watched', () => {
  it('outlives cells that loop for ever and errors that reach nobody, and shows them', async (test) => {
    const file = join(made, notebook('live', '1'))
    const child = spawn(process.execPath, [program, 'notebook', file, '--watch'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    test.after(() => child.kill('SIGKILL'))
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    const until = async (what: () => boolean) => {
      for (
        const bound = Date.now() + 60_000;
        !what();
        await new Promise((again) => setTimeout(again, 20))
      )
        if (Date.now() > bound || child.exitCode !== null)
          throw new Error(`expected ${what}, got:\n${said}`)
    }
    const url = String(await once(child.stdout, 'data')).trim()
    await until(() => said.includes('1 of 1 cells'))

    const mark =
      "process.getBuiltinModule('node:fs').writeFileSync(import.meta.dirname + '/looping', '')"
    notebook('live', `${mark}\nfor (;;);`)
    const looping = join(made, 'looping')
    await until(() => existsSync(looping))
    rmSync(looping)
    child.kill('SIGINT')
    await until(() => said.includes('stopped: the run was stopped'))

    notebook('live', "setTimeout(() => { throw new Error('behind the run') }, 50)")
    await until(() => said.includes('Error: behind the run (line 2)'))
    assert.match(await (await fetch(`${url}body`)).text(), /Error: behind the run/)
    notebook(
      'live',
      "setTimeout(() => { throw new Error('in a cell') })",
      'await new Promise((d) => setTimeout(d, 60_000))',
    )
    await until(() => said.includes('Error: in a cell (line 2)'))

    child.kill('SIGINT')
    assert.deepEqual(await once(child, 'close'), [0, null])
  })
})

describe('a place that cannot be written to is one line that names it, and exit code 2', () => {
  writeFileSync(join(made, 'file'), '')
  const verbs: [args: string[], message: RegExp][] = [
    [
      ['run', '--repeat', '1', '--out', 'file'],
      /^file_unwritable: expected a folder for the run, got EEXIST \(.*file\)\n$/,
    ],
    [
      ['kernel', '--install'],
      /^file_unwritable: expected Jupyter's data folder, got ENOTDIR \(.*file.kernels.touchstone\)\n$/,
    ],
  ]
  verbs.push([
    ['probe', 'https://localhost/mcp', '--receipt', 'none/receipt.json'],
    /file_unwritable: expected .*, got ENOENT \(none.receipt.*\.json\)\n$/,
  ])
  for (const [args, message] of verbs)
    it(args.join(' '), () => {
      const { status, stdout, stderr } = touchstone(args, { JUPYTER_DATA_DIR: join(made, 'file') })
      assert.deepEqual([status, args[0] === 'probe' ? '' : stdout], [2, ''])
      assert.match(stderr, message)
      assert.doesNotMatch(stderr, /^\s+at /m)
    })
})

describe('a Node that is too old', () => {
  it('is told which one is wanted', () => {
    const old =
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })"
    const { status, stdout, stderr } = touchstone(['--version'], {
      NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(old)}"`,
    })
    assert.deepEqual([status, stdout], [2, ''])
    assert.match(stderr, /^usage: expected Node 22\.19 or later, got 20\.20\.2 \(.*\)\n$/)
  })
})
