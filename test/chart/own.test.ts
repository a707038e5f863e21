/** A chart of one's own draws its rows, and reads nothing else. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toSvg } from '../../lib/chart/draw/render.ts'
import { chart } from '../../lib/index.ts'

const rows = [{ k: 1, error: 0.4 }]
const title = { title: 'Mine' }

describe('chart.own', () => {
  for (const [what, drawing] of [
    ['a file as data', { layer: [{ mark: 'point', data: { url: '/etc/hostname' } }] }],
    ['an address as data', { mark: 'point', data: { url: 'http://127.0.0.1:9/x' } }],
    [
      'a file to look rows up in',
      { mark: 'point', transform: [{ lookup: 'k', from: { data: { url: 'x.csv' }, key: 'k' } }] },
    ],
    ['a link', { mark: { type: 'text', href: 'javascript:alert(1)' } }],
    ['an image', { mark: 'image', encoding: { url: { field: 'k' } } }],
    ['settings of the page', { mark: 'point', usermeta: { embedOptions: {} } }],
  ] as const) {
    it(`refuses ${what}`, () => {
      assert.throws(() => chart.own(rows, drawing as never, title), {
        code: 'chart_invalid',
        message: /a drawing of its own rows/,
      })
    })
  }

  it('takes rows whose columns have such names', () => {
    assert.ok(
      chart
        .own([{ url: 'a' }], { mark: 'point' }, title)
        .text()
        .includes('a'),
    )
  })

  it('draws no spec that reads a file, wherever the spec comes from', async () => {
    const svg = toSvg({ data: { url: '/etc/hostname' }, mark: 'point' }).catch(
      ({ code }: { code: string }) => code,
    )
    assert.doesNotMatch(await svg, /hostname/)
  })
})
