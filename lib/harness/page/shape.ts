/** What a page of a run holds: made by the room, read by the scripts of the page. */
import type { Json, JsonObject } from '../../json.ts'
import type {
  ComparedMetric,
  Entry,
  Mark,
  Metric,
  TranscriptTime,
  TrialRecord,
} from '../../log/index.ts'
import type { CoverageShown } from './coverage.ts'

/** A rate in words and as a place on an axis from 0 to 1. null: there is none. */
export type RateShown = {
  /** `62% [40, 80]` for these cases, and for others like these. */
  again: string
  other: string
  /** `judged 5 of 25, of all 20% to 100%`; null where every trial was judged. */
  open: string | null
  at: number | null
  low: number | null
  high: number | null
}

export type ConfigurationShown = {
  name: string
  model: string
  trials: number
  errors: number
  unrun: number
  rates: { [metric in Metric]: RateShown }
  levels: TrialRecord['levels']
  /** Per trial, where it is known: median time, median calls, mean tokens, mean cost. */
  cost: { time: string; calls: string; tokens: string; usd: string }
}

/** A sentence, and the view with what it speaks of. */
export type Said = { text: string; link: { to: string; label: string } | null }

export type Answered = { verdict: string; difference: string; p: string }

export type ComparisonShown = {
  a: string
  b: string
  /** The sentence of the metric that was asked about, and what stands under it. */
  headline: string
  lead: Said
  notes: string[]
  metrics: {
    metric: ComparedMetric
    label: string
    again: Answered | null
    other: Answered | null
  }[]
  /** Time, calls, tokens, cost. null: not known. */
  measures: ({ difference: string; p: string } | null)[]
}

export type CaseShown = {
  id: string
  title: string
  kind: string
  adversarial: boolean
  twin: string | null
}

/** A chart as pictures, and the view with what it counts. */
export type ChartShown = {
  title: string
  notes: string
  light: string
  dark: string
  link: string
}

export type Overview = {
  id: string
  created: string
  size: Said
  /** What a reader must know before any number. */
  notes: Said[]
  alerts: Said[]
  metrics: { [metric in Metric]: { label: string; better: 'higher' | 'lower' } }
  configurations: ConfigurationShown[]
  comparisons: ComparisonShown[]
  /** Over how many trials the rates speak. null: the run is not sound. */
  coverage: CoverageShown | null
  /** Tools that no classifier knows, and the way out. null: there are none. */
  unclassified: string | null
  /** What a list of trials can ask of each, in the order of its marks. */
  marks: Mark[]
  cases: CaseShown[]
  /** The kind that comes out worst first. */
  kinds: string[]
  repeats: number
  charts: ChartShown[]
  /** Trials at work over time, and the same in characters. null: the page is of two runs. */
  activity: (ChartShown & { text: string }) | null
  /** When the run began, in ms since 1970. */
  began: number
  /** The folder beside the page that holds its parts. null: the parts are in the page. */
  beside: string | null
}

/** A trial in the list of all: places in the lists of cases and configurations, then its marks. */
export type TrialShown = {
  key: string
  case: number
  configuration: number
  trial: number
  outcome: TrialRecord['outcome']
  goal: boolean | null
  attack: boolean | null
  overclaims: number | null
  calls: number
  tokens: number | null
  usd: number | null
  ms: number
  /** When it began, in ms since the run did. */
  began: number
  levels: TrialRecord['levels']
  /** A digit for each of the overview's marks; empty where it ended in an error. */
  marks: string
  /** Place of how it ended in the list of texts; -1 where it ended in an error. */
  ending: number
  /** Place of its first reason in the list of texts; -1 for none. */
  why: number
  /** Place of what its agent said last, shortened; -1 for nothing, or no room. */
  words: number
  /** The part with its details; -1 for none. */
  part: number
  /** What metrics of the list say of it, by name: 1, 0 or null. */
  scores: { [metric in Metric]: number | null }
}

/** The list of trials as it is packed: columns instead of rows, and each text once. */
export type Packed = { texts: string[]; rows: Json[][] }

/** What is known of a call that changed something. */
export type WriteShown = {
  seq: number
  level: string | null
  why: string | null
  record: string | null
  findings: string[]
}

/** Everything about one trial. */
export type Details = {
  key: string
  record: TrialRecord
  why: string[]
  entries: Entry[]
  ordered: boolean
  /** When its parts began and ended. Empty where that is not known. */
  times: readonly TranscriptTime[]
  /** What they took, in words. null: that is not known. */
  took: string | null
  writes: WriteShown[]
  decisions: Json[]
  exports: { server: string; provider: string; text: string }[]
  logs: JsonObject[]
}
