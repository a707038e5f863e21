/** Colours: visible on both backgrounds, and apart for colour-blind readers. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BETTER, config, DIVERGING, SAME, WORSE } from '../../lib/chart/draw/theme.ts'
import { samples } from './samples.ts'

type Triple = [number, number, number]

/** Severe dichromacy in linear RGB: Machado, Oliveira and Fernandes 2009, table 1, severity 1.0. */
const SIGHT: Record<string, [Triple, Triple, Triple]> = {
  full: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}

/** sRGB to linear light: IEC 61966-2-1. */
function linear(hex: string): Triple {
  return [1, 3, 5].map((at) => {
    const share = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as Triple
}

const luminance = ([r, g, b]: Triple) => 0.2126 * r + 0.7152 * g + 0.0722 * b

/** WCAG 2 contrast ratio. */
function contrast(a: string, b: string): number {
  const [dark, light] = [luminance(linear(a)), luminance(linear(b))].sort((x, y) => x - y) as [
    number,
    number,
  ]
  return (light + 0.05) / (dark + 0.05)
}

/** CIE 1976 L*a*b*, white D65, as a reader with this sight sees the colour. */
function seen(hex: string, sight: [Triple, Triple, Triple]): Triple {
  const light = linear(hex)
  const [r, g, b] = sight.map((row) =>
    Math.min(1, Math.max(0, row[0] * light[0] + row[1] * light[1] + row[2] * light[2])),
  ) as Triple
  const f = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116)
  const x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047)
  const y = f(0.2126 * r + 0.7152 * g + 0.0722 * b)
  const z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883)
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
}

function apart(colors: string[], least: number): void {
  for (const [name, sight] of Object.entries(SIGHT)) {
    for (const [i, a] of colors.entries()) {
      for (const b of colors.slice(0, i)) {
        const [p, q] = [seen(a, sight), seen(b, sight)]
        const distance = Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2])
        assert.ok(distance >= least, `${a} and ${b} are ${distance.toFixed(1)} apart for ${name}`)
      }
    }
  }
}

type Theme = {
  background: string
  range: { category: string[] }
  style: Record<string, { fill: string }>
  axis: Record<string, string>
}

describe('chart theme', () => {
  for (const name of ['light', 'dark'] as const) {
    const theme = config(name) as unknown as Theme

    test(`${name}: lines are 3:1 and text is 4.5:1 against the background`, () => {
      const marks = [...theme.range.category, BETTER, WORSE, SAME, theme.style['accent']!.fill]
      for (const color of marks)
        assert.ok(contrast(color, theme.background) >= 3, `${color} on ${theme.background}`)
      for (const color of [
        theme.style['label']!.fill,
        theme.style['note']!.fill,
        theme.axis['titleColor']!,
      ]) {
        assert.ok(contrast(color, theme.background) >= 4.5, `${color} on ${theme.background}`)
      }
    })

    test(`${name}: lines stay apart for every kind of sight`, () => apart(theme.range.category, 15))
  }

  test('better, worse and the same stay apart for every kind of sight', () =>
    apart([BETTER, WORSE, SAME], 25))

  test('short and reached stay apart for every kind of sight, and so does the middle', () => {
    apart([DIVERGING[0]!, DIVERGING[3]!, DIVERGING[6]!], 25)
  })

  test('levels stay apart for every kind of sight, and grow darker with each rung for a grey print', () => {
    const { spec } = samples['levels']!()
    const [bars] = spec['layer'] as { encoding: { color: { scale: { range: string[] } } } }[]
    const colors = bars!.encoding.color.scale.range
    apart(colors, 20)
    const lightness = colors.map((color) => seen(color, SIGHT['full']!)[0])
    for (const [i, value] of lightness.entries())
      if (i) assert.ok(lightness[i - 1]! - value >= 15, lightness.join(' '))
  })

  test('numbers in cells can be read', () => {
    for (const [share, ink] of [
      [0, '#ffffff'],
      [1, '#1f2428'],
      [2, '#1f2428'],
      [3, '#1f2428'],
      [4, '#1f2428'],
      [5, '#1f2428'],
      [6, '#ffffff'],
    ] as const) {
      assert.ok(contrast(DIVERGING[share]!, ink) >= 4.5, `${ink} on ${DIVERGING[share]}`)
    }
  })
})
