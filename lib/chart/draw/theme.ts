/**
 * How charts look: colours that colour-blind readers can tell apart and that survive a grey print,
 * in a light and a dark theme, and headings that say what was counted.
 */

import { foreign } from '../../display.ts'
import type { JsonObject } from '../../json.ts'
import { FAMILY, measure, type Weight } from './font.ts'

/**
 * Five colours after Okabe and Ito's set. Each is 3:1 against its background, and any two stay
 * apart for readers without red, green or blue cones; a test computes both. A sixth line has the
 * first colour again, with a dash of its own.
 */
const CATEGORY = ['#005f9e', '#d55e00', '#009e73', '#b6568f', '#2b2b2b']
const CATEGORY_DARK = ['#3f8fd8', '#f0883e', '#3fcf8e', '#d98cc0', '#f4f4f4']

/** Line dashes beside the colours, for readers and printers without colour. */
export const DASH = [
  [1, 0],
  [6, 3],
  [2, 2],
  [8, 3, 2, 3],
  [10, 4],
  [4, 1],
  [1, 3],
  [12, 2, 2, 2],
]

/**
 * Low to high over a pale middle: orange is short, teal is reached. Both ends are darker than the
 * middle.
 */
export const DIVERGING = [
  '#b9500d',
  '#ec9c5a',
  '#f6d5b3',
  '#f4f1ea',
  '#b9dcd3',
  '#5fb0a2',
  '#0b7a70',
]

/** Signs, in mid tones that stand out from both backgrounds. */
export const BETTER = '#1478b8'
export const WORSE = '#d0621a'
export const SAME = '#8a9298'

type Theme = { background: string; ink: string; quiet: string; grid: string; accent: string }

const LIGHT: Theme = {
  background: '#ffffff',
  ink: '#1f2428',
  quiet: '#5d666e',
  grid: '#e3e6e8',
  accent: '#0072b2',
}

const DARK: Theme = {
  background: '#15191d',
  ink: '#e8ebed',
  quiet: '#a3adb5',
  grid: '#333a41',
  accent: '#56b4e9',
}

/**
 * The Vega-Lite config of a theme. Marks take neutral colours through named styles (`quiet`,
 * `accent`, `label`, `note`, `zero`), so that exchanging the config is all that a dark page needs.
 */
export function config(name: 'light' | 'dark'): JsonObject {
  const theme = name === 'light' ? LIGHT : DARK
  const fill = (color: string): JsonObject => ({ color, fill: color, stroke: color })
  return {
    background: theme.background,
    font: FAMILY,
    padding: 12,
    view: { stroke: null },
    axis: {
      domain: false,
      gridColor: theme.grid,
      labelColor: theme.ink,
      labelFlush: false,
      labelFontSize: 11,
      labelLimit: 1000,
      labelPadding: 6,
      tickColor: theme.grid,
      ticks: false,
      titleColor: theme.quiet,
      titleFontSize: 11,
      titleFontWeight: 'normal',
      titlePadding: 10,
    },
    axisY: { titleLimit: 230 },
    legend: {
      labelColor: theme.ink,
      labelFontSize: 11,
      labelLimit: 1000,
      orient: 'top',
      symbolStrokeWidth: 2,
      titleColor: theme.quiet,
      titleFontSize: 11,
      titleFontWeight: 'normal',
    },
    header: { labelColor: theme.ink, labelFontSize: 11, titleColor: theme.quiet, labelLimit: 1000 },
    title: {
      anchor: 'start',
      color: theme.ink,
      fontSize: 14,
      fontWeight: 'bold',
      frame: 'bounds',
      lineHeight: 18,
      offset: 14,
      subtitleColor: theme.quiet,
      subtitleFontSize: 11,
      subtitleLineHeight: 15,
      subtitlePadding: 5,
    },
    style: {
      quiet: fill(theme.quiet),
      accent: fill(theme.accent),
      label: { fill: theme.ink, color: theme.ink, fontSize: 11 },
      note: { fill: theme.quiet, color: theme.quiet, fontSize: 11 },
      zero: { stroke: theme.ink, color: theme.ink, strokeWidth: 1 },
    },
    range: { category: name === 'light' ? CATEGORY : CATEGORY_DARK, diverging: DIVERGING },
  }
}

/** A title with the notes below it, broken into lines that fit `widthPx`. */
export function heading(title: string, notes: string[], widthPx: number): JsonObject {
  return {
    text: lines(foreign(title, 300), 14, 'bold', widthPx),
    subtitle: notes.flatMap((note) => lines(foreign(note, 600), 11, 'regular', widthPx)),
  }
}

function lines(text: string, sizePx: number, weight: Weight, widthPx: number): string[] {
  const out: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line ? `${line} ${word}` : word
    if (line && measure(longer, sizePx, weight) > widthPx) {
      out.push(line)
      line = word
    } else line = longer
  }
  return [...out, line]
}
