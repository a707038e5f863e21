/** What the page holds: unpacked once, details of trials when they are opened. */
import type { Json } from '../../../json.ts'
import type { Details, Overview, Packed, TrialShown } from '../shape.ts'

type Held = { overview: Overview; trials: TrialShown[]; texts: string[] }

export const held = { trials: [], texts: [] } as unknown as Held

async function unpack<T>(packed: string): Promise<T> {
  const bytes = Uint8Array.from(atob(packed.trim()), (one) => one.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return JSON.parse(await new Response(stream).text()) as T
}

/** The columns of the packed list, in their order. */
const COLUMNS = [
  'key',
  'case',
  'configuration',
  'trial',
  'outcome',
  'goal',
  'attack',
  'overclaims',
  'calls',
  'tokens',
  'usd',
  'ms',
  'began',
  'levels',
  'marks',
  'ending',
  'why',
  'words',
  'part',
  'scores',
]

export async function readIndex(): Promise<void> {
  const text = document.getElementById('index')?.textContent ?? ''
  const read = await unpack<{ overview: Overview; packed: Packed }>(text)
  held.overview = read.overview
  held.texts = read.packed.texts
  const metrics = Object.keys(read.overview.metrics)
  held.trials = read.packed.rows.map((row) => trialOf(row, metrics, read.overview))
}

/** A row as a trial. Marks stand in it as one text, and no key that the rest makes. */
function trialOf(row: Json[], metrics: readonly string[], overview: Overview): TrialShown {
  const made = Object.fromEntries(COLUMNS.map((name, i) => [name, row[i]]))
  const [asserted, observed_confirmed, verified] = made['levels'] as number[]
  const { case: at, configuration, trial } = made as unknown as TrialShown
  const { cases, configurations } = overview
  return {
    ...(made as unknown as TrialShown),
    key:
      (made['key'] as string | null) ??
      `${cases[at]?.id}|${configurations[configuration]?.name}|${trial}`,
    levels: { asserted, observed_confirmed, verified } as TrialShown['levels'],
    scores: Object.fromEntries(
      metrics.map((name, i) => {
        const mark = (made['scores'] as string)[i]
        return [name, mark === '-' ? null : Number(mark)]
      }),
    ) as TrialShown['scores'],
  }
}

const opened = new Map<number, Promise<ReadonlyMap<string, Details>>>()
const waiting = new Map<number, (text: string) => void>()

function partText(part: number): Promise<string> {
  const inside = document.getElementById(`part-${part}`)
  if (inside) return Promise.resolve(inside.textContent ?? '')
  return new Promise((resolve, reject) => {
    waiting.set(part, resolve)
    const script = document.createElement('script')
    script.onload = () => script.remove()
    script.src = `${held.overview.beside}/${String(part).padStart(5, '0')}.js`
    script.onerror = () =>
      reject(
        new Error(
          `${held.overview.beside} is not beside this page, so that no details can be read`,
        ),
      )
    document.head.appendChild(script)
  })
}

/** Called by the files beside the page. */
Object.assign(globalThis, {
  touchstonePart: (part: number, text: string) => waiting.get(part)?.(text),
})

/** The details of one part. They are not kept: a search reads all parts. */
export async function partOf(part: number): Promise<ReadonlyMap<string, Details>> {
  const kept = opened.get(part)
  if (kept) return kept
  const list = await unpack<Details[]>(await partText(part))
  return new Map(list.map((one) => [one.key, one]))
}

/** Everything about a trial. */
export async function detailsOfTrial(trial: TrialShown): Promise<Details> {
  if (trial.part < 0) throw new Error('the log holds no transcript of this trial')
  let part = opened.get(trial.part)
  if (!part) {
    part = partOf(trial.part)
    opened.set(trial.part, part)
  }
  const found = (await part).get(trial.key)
  if (!found) throw new Error('the log holds no transcript of this trial')
  return found
}

export function whyText(trial: TrialShown): string {
  return held.texts[trial.why] ?? ''
}

/** Trials by case, then by configuration. */
let grouped: TrialShown[][][] | undefined

export function trialsOf(caseAt: number, configurationAt: number): TrialShown[] {
  if (!grouped) {
    const { cases, configurations } = held.overview
    grouped = cases.map(() => configurations.map(() => []))
    for (const one of held.trials) grouped[one.case]?.[one.configuration]?.push(one)
  }
  return grouped[caseAt]?.[configurationAt] ?? []
}
