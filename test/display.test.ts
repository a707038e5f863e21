import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  cut,
  cutMiddle,
  type Look,
  listLook,
  marked,
  pad,
  table,
  textWidth,
  tone,
} from '../lib/display.ts'
import fc from './property.ts'

describe('columns of a text', () => {
  // Unicode 16: East Asian Width (UAX 11) W and F take two, an emoji presentation sequence (UTS 51)
  // takes two, marks and format characters take none.
  const rows: [text: string, columns: number][] = [
    ['abc', 3],
    ['\u2705', 2],
    ['\u2764\ufe0f', 2],
    ['1\ufe0f\u20e3', 2],
    ['\u{1f469}\u200d\u{1f4bb}', 2],
    ['\u65e5\u672c', 4],
    ['e\u0301', 1],
    ['\u2026\u2500\u2588\u00b7', 4],
    ['\u001b[31mred\u001b[0m', 3],
  ]
  for (const [text, columns] of rows)
    test(JSON.stringify(text), () => assert.equal(textWidth(text), columns))
  test('a cut text fits, and characters that are one on the screen stay whole', () => {
    assert.equal(
      cut('\u{1f469}\u200d\u{1f4bb}\u{1f469}\u200d\u{1f4bb}', 3),
      '\u{1f469}\u200d\u{1f4bb}\u2026',
    )
    const text = fc.string({ unit: 'grapheme', maxLength: 30 })
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 20 }), (one, width) => {
        assert.ok(textWidth(cut(one, width)) <= width)
        assert.ok(textWidth(pad(one, width)) >= width)
      }),
    )
  })
  test('columns of a table stay under each other', () => {
    const lines = table(
      [{ head: 'a' }, { head: 'b' }],
      [
        ['\u2705', 'x'],
        ['no', 'y'],
      ],
    ).split('\n')
    assert.deepEqual(lines, ['a   b', '\u2705  x', 'no  y'])
  })
})

describe('a table that is too wide', () => {
  const columns = [
    { head: 'configuration', min: 6 },
    { head: 'goal met' },
    { head: 'attack succeeded', align: 'right' as const },
  ]
  const rows = [['a-long-configuration', '95.8% [80.0, 99.9]', '4.2% [0.1, 20.0]']]

  test('cuts what may be cut before it breaks anything', () => {
    assert.deepEqual(table(columns, rows, { width: 50 }).split('\n'), [
      'configurati…  goal met            attack succeeded',
      'a-long-conf…  95.8% [80.0, 99.9]  4.2% [0.1, 20.0]',
    ])
  })

  test('breaks no interval, and takes no figure from its unit, where it need not', () => {
    const long = [['a-long-configuration', '95.8% [80.0, 99.9]', '2 ms (130 ms)']]
    assert.deepEqual(table(columns, long, { width: 35 }).split('\n'), [
      'confi…  goal met             attack',
      '                          succeeded',
      'a-lon…  95.8%         2 ms (130 ms)',
      '        [80.0, 99.9]',
    ])
  })

  test('then breaks heads and cells at spaces, each part in its column, and loses nothing', () => {
    assert.deepEqual(table(columns, rows, { width: 30 }).split('\n'), [
      'confi…  goal met        attack',
      '                     succeeded',
      'a-lon…  95.8%       4.2% [0.1,',
      '        [80.0,           20.0]',
      '        99.9]',
    ])
  })

  test('cuts names in the middle, so that different ones stay different at any width', () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(
        fc.uniqueArray(name.map((one) => one.trim()).filter(Boolean), { minLength: 2 }),
        fc.integer({ min: 10, max: 60 }),
        (names, width) => {
          const twins = names.flatMap((one) => [`folder/${one}`, `folder/${one}.benign`])
          const rows = [...new Set(twins)].map((one) => [one, 'a reason of some length'])
          const heads = [
            { head: 'case', min: 4, names: true },
            { head: 'because', min: 8 },
          ]
          const lines = table(heads, rows, { width }).split('\n').slice(1)
          assert.equal(new Set(lines).size, rows.length)
        },
      ),
    )
    assert.equal(cutMiddle('cached_read/contractor.benign', 16), 'cached_\u2026r.benign')
  })

  test('is cut on a terminal; a list that another program reads is whole', () => {
    const ids = [['a'.repeat(300)], ['b'.repeat(300)]]
    const of = (isTTY: boolean) =>
      table([{ head: 'case', min: 4, names: true }], ids, listLook({ isTTY, columns: 80 }))
    assert.ok(
      of(true)
        .split('\n')
        .every((line) => line.length <= 80),
    )
    assert.deepEqual(of(false).split('\n').slice(1), ids.flat())
  })

  test('breaks no coloured cell, whose colour would run on', () => {
    const cell = tone('cannot tell', 'unsure', { colors: true })
    const text = table([{ head: 'careful is' }], [[cell]], { width: 6, colors: true })
    assert.ok(text.includes(cell))
  })
})

describe('a text with tables as HTML', () => {
  const columns = [{ head: 'case' }, { head: 'passed', align: 'right' as const }]
  const say = (cell: string) => (look: Look) =>
    `Before <it>\n  ${table(columns, [[cell, '5']], look)}\n\nAfter`

  test('has each table as a table, and the rest with its lines', () => {
    assert.equal(
      marked(say('one')),
      '<pre style="white-space: pre-wrap">Before &lt;it&gt;</pre>' +
        '<div style="overflow-x: auto" tabindex="0"><table><thead><tr><th style="text-align: left">case</th><th style="text-align: right">passed</th></tr></thead>' +
        '<tbody><tr><td style="text-align: left">one</td><td style="text-align: right">5</td></tr></tbody></table></div>' +
        '<pre style="white-space: pre-wrap">After</pre>',
    )
  })

  test('is none where it has no table', () =>
    assert.equal(
      marked(() => 'plain'),
      undefined,
    ))

  test('what a cell or a line says is never markup, nor a table that it is not', () => {
    const html = marked((look) => `table-0-0table-0-\n${say('<img src=x>table-0-0')(look)}`)
    assert.ok(!html?.includes('<img'))
    assert.equal(html?.match(/<table>/g)?.length, 1)
    assert.match(html ?? '', /^<pre[^>]*>table-0-0table-0-\n/)
  })
})
