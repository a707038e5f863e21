import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { installKernel } from '../../../lib/repl/kernel/install.ts'
import {
  pointsOf,
  readMessage,
  unitsOf,
  writeMessage,
} from '../../../lib/repl/kernel/messages-wire.ts'
import { temporaryFolder } from '../../temporary.ts'

const PYTHON = '/usr/bin/python3'
const at = (name: string) => fileURLToPath(new URL(name, import.meta.url))

function withoutJupyter(): string | false {
  try {
    execFileSync(PYTHON, ['-c', 'import jupyter_client'], { stdio: 'ignore' })
    return false
  } catch {
    return "Jupyter's client is not installed (python3-jupyter-client)"
  }
}

type Seen = { reply: Record<string, unknown>; out: [string, Record<string, unknown>][] }

describe('the kernel, asked by Jupyter\u2019s client', { skip: withoutJupyter() }, () => {
  let seen: Record<string, unknown>
  const cell = (name: string) => seen[name] as Seen
  before(async () => {
    const folder = temporaryFolder()
    await installKernel({ command: [process.execPath, at('main.ts')], folder })
    const env = { ...process.env, JUPYTER_PATH: folder }
    const { stdout } = await promisify(execFile)(PYTHON, [at('client.py')], {
      env,
      timeout: 60_000,
    })
    seen = JSON.parse(stdout) as Record<string, unknown>
  })

  test('a value is an execute_result', () => {
    assert.deepEqual(cell('value').out, [
      ['execute_result', { execution_count: 1, data: { 'text/plain': '6' }, metadata: {} }],
    ])
  })
  test('names may be declared again, and output is a stream', () => {
    assert.deepEqual(cell('again').out, [
      ['stream', { name: 'stdout', text: 'said\n' }],
      ['execute_result', { execution_count: 2, data: { 'text/plain': '11' }, metadata: {} }],
    ])
  })
  test('an error tells its line', () => {
    const { reply, out } = cell('error')
    assert.equal(reply['status'], 'error')
    assert.equal(out[0]?.[0], 'error')
    assert.deepEqual(out[0]?.[1]['traceback'], [
      'ReferenceError: nosuch is not defined',
      '  2 │ nosuch',
      '    │ ^',
    ])
  })
  test('a chart is Vega-Lite v5 and PNG, without SVG', () => {
    const data = cell('display').out[0]?.[1]['data'] as Record<string, unknown>
    assert.deepEqual(Object.keys(data).sort(), [
      'application/vnd.vegalite.v5+json',
      'image/png',
      'text/plain',
    ])
    assert.equal(data['image/png'], 'AQID')
  })
  test('a table is HTML beside its text', () => {
    const data = cell('table').out[0]?.[1]['data'] as Record<string, string>
    assert.equal(data['text/plain'], 'Rates\ncase\none\ntwo')
    assert.match(data['text/html'] ?? '', /Rates<\/pre>.*<table>.*<td[^>]*>two<\/td>/)
  })
  test('?name, name? and .time work in a cell as they do at the prompt', () => {
    const text = (name: string) => String(cell(name).out[0]?.[1]['text'])
    assert.match(text('question'), /Milliseconds as a person reads them/)
    assert.equal(text('behind'), text('question'))
    assert.deepEqual(cell('time').out[0]?.[1]['data'], { 'text/plain': '2' })
    assert.match(String(cell('time').out[1]?.[1]['text']), /^\d+(\.\d+)? ms\n$/)
    assert.equal((cell('unknown').reply as { ename: string }).ename, 'usage')
  })
  test('completion counts its cursor in code points', () => {
    const { matches, cursor_start, cursor_end } = seen['complete'] as Record<string, unknown>
    assert.deepEqual([matches, cursor_start, cursor_end], [['text'], 11, 14])
  })
  test('inspection shows the description', () => {
    const { found, data } = seen['inspect'] as { found: boolean; data: Record<string, string> }
    assert.equal(found, true)
    assert.match(data['text/plain'] ?? '', /Milliseconds as a person reads them/)
  })
  test('an open bracket is incomplete', () =>
    assert.equal((seen['incomplete'] as { status: string }).status, 'incomplete'))
  test('an interrupt stops a cell that awaits, one that never does, and one that never does again; the kernel goes on', () => {
    assert.equal((seen['stopped'] as { ename: string }).ename, 'stopped')
    assert.equal((seen['spinning'] as { ename: string }).ename, 'stopped')
    assert.equal((seen['deaf'] as { ename: string }).ename, 'stopped')
  })
  test('200 interrupts at random moments end no kernel, and each cell is stopped or whole', () => {
    const ends = seen['random'] as string[]
    assert.equal(ends.length, 200)
    assert.deepEqual([...new Set(ends)].sort(), ['ok', 'stopped'])
    assert.deepEqual(cell('after').out.at(-1)?.[1]['data'], { 'text/plain': '6' })
  })
  test('it ends when asked', () => assert.equal(seen['alive'], false))
})

describe('messages', () => {
  const frames = (key: string) =>
    writeMessage('status', { execution_state: 'idle' }, undefined, {
      key,
      session: 's',
      identities: [Buffer.from('id')],
    }).map((frame) => Buffer.from(frame))
  test('what is written is read', () => {
    const message = readMessage(frames('key'), 'key')
    assert.equal(message?.header.msg_type, 'status')
    assert.deepEqual(message?.content, { execution_state: 'idle' })
    assert.deepEqual(message?.identities.map(String), ['id'])
  })
  test('a message with another key, or a changed content, is not answered', () => {
    assert.equal(readMessage(frames('key'), 'other'), undefined)
    const changed = frames('key')
    changed[changed.length - 1] = Buffer.from('{"execution_state":"busy"}')
    assert.equal(readMessage(changed, 'key'), undefined)
    assert.equal(readMessage([Buffer.from('x')], 'key'), undefined)
  })
  test('cursors count code points', () => {
    assert.equal(unitsOf('\u{1f600}ab', 2), 3)
    assert.equal(pointsOf('\u{1f600}ab', 3), 2)
  })
})

test('the kernelspec starts the command with the connection file', async () => {
  const folder = temporaryFolder()
  const made = await installKernel({ command: ['a', 'b'], folder })
  const spec = JSON.parse(readFileSync(join(made, 'kernel.json'), 'utf8')) as Record<
    string,
    unknown
  >
  assert.deepEqual(spec['argv'], ['a', 'b', '{connection_file}'])
  assert.equal(spec['interrupt_mode'], 'message')
})
