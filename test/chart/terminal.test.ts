/** Pictures go only to terminals that can show them; everything else gets text. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeImage, imageProtocol, show } from '../../lib/chart/index.ts'
import { asciiOnly } from '../../lib/chart/text/plot.ts'
import { samples } from './samples.ts'

const png = new Uint8Array(10_000).map((_, i) => i % 251)
const base64 = Buffer.from(png).toString('base64')

describe('chart terminal', () => {
  const rows: [string, boolean, Record<string, string>, string | null][] = [
    ['kitty', true, { TERM: 'xterm-kitty' }, 'kitty'],
    ['kitty by its window', true, { TERM: 'xterm-256color', KITTY_WINDOW_ID: '1' }, 'kitty'],
    ['ghostty', true, { TERM_PROGRAM: 'ghostty' }, 'kitty'],
    ['iTerm', true, { TERM_PROGRAM: 'iTerm.app' }, 'iterm'],
    ['WezTerm', true, { TERM_PROGRAM: 'WezTerm' }, 'iterm'],
    ['VS Code', true, { TERM_PROGRAM: 'vscode' }, 'iterm'],
    ['a pipe', false, { TERM: 'xterm-kitty' }, null],
    [
      'tmux inside kitty',
      true,
      { TERM: 'tmux-256color', KITTY_WINDOW_ID: '1', TMUX: '/tmp/tmux-0/default,1,0' },
      null,
    ],
    [
      'tmux that says it is kitty',
      true,
      { TERM: 'xterm-kitty', TMUX: '/tmp/tmux-0/default,1,0' },
      null,
    ],
    ['screen', true, { TERM: 'screen', TERM_PROGRAM: 'iTerm.app' }, null],
    ['screen by its session', true, { TERM: 'xterm-kitty', STY: '1.pts' }, null],
    ['a plain terminal', true, { TERM: 'xterm-256color' }, null],
    ['nothing known', true, {}, null],
  ]
  for (const [name, isTTY, environment, expected] of rows) {
    test(`${name} gets ${expected ?? 'text'}`, () =>
      assert.equal(imageProtocol({ isTTY }, environment), expected))
  }

  test('kitty pieces carry at most 4096 characters, the last says so, and together they are the picture', () => {
    const pieces = [...encodeImage(png, 'kitty').matchAll(/\x1b_G(.*?);(.*?)\x1b\\/g)]
    assert.deepEqual(
      pieces.map(([, control]) => control),
      ['a=T,f=100,m=1', 'm=1', 'm=1', 'm=0'],
    )
    assert.ok(pieces.every(([, , data]) => data!.length <= 4096))
    assert.equal(pieces.map(([, , data]) => data).join(''), base64)
  })

  test('iTerm gets one sequence with the size in bytes', () => {
    assert.equal(
      encodeImage(png, 'iterm'),
      `\x1b]1337;File=inline=1;size=10000;preserveAspectRatio=1:${base64}\x07`,
    )
  })

  test('a view into a larger buffer is encoded alone', () => {
    assert.equal(
      encodeImage(png.subarray(10, 13), 'iterm').split(':')[1],
      `${Buffer.from([10, 11, 12]).toString('base64')}\x07`,
    )
  })

  test('show writes a picture or text, and says which', async () => {
    const out: string[] = []
    const stream = {
      isTTY: true,
      columns: 80,
      hasColors: () => false,
      write: (text: string) => out.push(text),
    }
    assert.equal(await show(samples['levels']!(), stream, { TERM: 'xterm-kitty' }), 'picture')
    assert.equal(await show(samples['levels']!(), stream, { TERM: 'xterm' }), 'text')
    assert.match(out[0] ?? '', /^\x1b_Ga=T/)
    assert.match(out[1] ?? '', /^How far the evidence goes/)
  })

  test('ASCII is used where the environment shows nothing else', () => {
    assert.equal(asciiOnly({ LANG: 'C' }), true)
    assert.equal(asciiOnly({ LC_ALL: 'POSIX', LANG: 'en_US.UTF-8' }), true)
    assert.equal(asciiOnly({ TERM: 'dumb', LANG: 'en_US.UTF-8' }), true)
    assert.equal(asciiOnly({ LC_ALL: 'C.UTF-8', LANG: 'C' }), false)
    assert.equal(asciiOnly({}), false)
  })
})
