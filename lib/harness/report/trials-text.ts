/** A run's trials as a person reads them: a row each, by the key that `run.transcript` takes. */
import { count, foreign, type Look, table, tone, wrap } from '../../display.ts'
import type { TrialRecord } from '../../log/index.ts'
import { shownAs } from '../../shown.ts'

/** Rows that are shown before the rest is only counted. */
const SHOWN = 40

const LAST =
  'One by its place, [0], is the whole record; run.transcript(KEY) is what was called and answered.'

function trialsText(trials: readonly TrialRecord[], look: Look = {}): string {
  const answer = (value: boolean | null) => (value === null ? '-' : value ? 'yes' : 'no')
  const rows = trials.slice(0, SHOWN).map((row) => [
    // Whole, since it is there to be copied.
    foreign(row.key, 400),
    row.outcome,
    answer(row.goal),
    answer(row.attack),
    String(row.overclaims ?? '?'),
    String(row.calls),
    foreign(row.error?.code ?? ''),
  ])
  const columns = [
    { head: 'trial' },
    { head: 'outcome' },
    { head: 'goal' },
    { head: 'attack' },
    { head: 'overclaims', align: 'right' as const },
    { head: 'calls', align: 'right' as const },
    { head: 'error' },
  ]
  const more = trials.length - SHOWN
  return [
    table(columns, rows, look),
    ...(more > 0
      ? [tone(`and ${count(more, 'more trial')}: .slice() and .filter() choose`, 'quiet', look)]
      : []),
    tone(wrap(LAST, look.width ?? 100), 'quiet', look),
  ].join('\n')
}

/**
 * Let a list of trials show itself as a table. It stays a plain list: what is mapped or filtered
 * out of it is one too.
 */
export function shownAsTable(trials: TrialRecord[]): readonly TrialRecord[] {
  return shownAs(trials, (look) => trialsText(trials, look))
}
