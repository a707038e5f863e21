/** A run as one page: a file that needs no server and asks for nothing. */
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { count, escapeMarkup } from '../../display.ts'
import { makeFolder, replaceFile, writing } from '../../files.ts'
import type { Json } from '../../json.ts'
import { MARKS, METRICS, type Metric, type TrialRecord, trialKey } from '../../log/index.ts'
import { Shown } from '../../shown.ts'
import { detailsOf } from './evidence.ts'
import { lastWords, lastWordsRoom } from './last-words.ts'
import { pack, partsOf } from './parts.ts'
import type { Details, Overview, Packed } from './shape.ts'
import { hashOf, viewSource } from './source.ts'
import { why } from './why.ts'

/** What a page is made of. */
export type PageOf = {
  overview: Overview
  trials: readonly TrialRecord[]
  /** Keys of trials that no rate counts, since they repeat another byte for byte. */
  repeats: ReadonlySet<string>
  /** Folders with the evidence, and the name that a key there has on the page. */
  folders: {
    dir: string
    nameOf: (record: TrialRecord) => TrialRecord
    trials: readonly TrialRecord[]
  }[]
  /** For readers that run no scripts. */
  text: string
}

/** Longest page that a notebook holds, in characters. */
const MOST_FRAMED = 8_000_000

/** A page of a run. `html` is whole; `save` writes it, and large parts beside it. */
export class RunPage extends Shown {
  private readonly of: PageOf

  constructor(of: PageOf) {
    super()
    this.of = of
  }

  /** The page with everything in it, whatever its size. */
  async html(): Promise<string> {
    const words = new Map<string, string>()
    const { places, inside } = await partsOf(detailsIn(this.of, words), null)
    return document(this.of, { places, words }, inside, null)
  }

  /**
   * Write the page. Of a run of many trials their details stand in a folder beside it, named like
   * the page, and load when they are opened.
   *
   * @param path of the file, such as `report.html`; a page that is there is replaced
   * @param options `insideBytes`: details of more bytes than that stand beside the page. Default
   *   3,500,000
   * @returns the file's absolute path
   * @throws TouchstoneError `file_unwritable`
   */
  async save(path: string, options: { insideBytes?: number } = {}): Promise<string> {
    const file = resolve(path)
    const folder = file.replace(/\.html?$/i, '') + '-trials'
    const draft = `${folder}.${process.pid}.draft`
    writing(path, () => makeFolder(dirname(file)))
    let beside = false
    const write = (part: number, text: string) =>
      writing(folder, () => {
        if (!beside) makeFolder(draft)
        beside = true
        const name = `${String(part).padStart(5, '0')}.js`
        writeFileSync(join(draft, name), `touchstonePart(${part}, '${text}')\n`)
      })
    try {
      const words = new Map<string, string>()
      const details = detailsIn(this.of, words)
      const { places, inside } = await partsOf(details, write, options.insideBytes)
      const html = await document(
        this.of,
        { places, words },
        inside,
        beside ? basename(folder) : null,
      )
      // What was there before stays until what takes its place is whole.
      writing(folder, () => {
        rmSync(folder, { recursive: true, force: true })
        if (beside) renameSync(draft, folder)
      })
      replaceFile(file, html, { follow: false })
    } finally {
      rmSync(draft, { recursive: true, force: true })
    }
    return file
  }

  text(): string {
    const { overview, trials } = this.of
    return `The page of run ${overview.id}: ${count(overview.cases.length, 'case')}, ${count(trials.length, 'trial')}. .save('report.html') writes it.`
  }

  /** In a notebook: the page in a frame that can do nothing but run its own scripts. */
  async [Symbol.for('Jupyter.display')](): Promise<{ [mime: string]: string }> {
    const text = this.text()
    const html = await this.html()
    if (html.length > MOST_FRAMED) return { 'text/plain': text }
    const source = `data:text/html;charset=utf-8;base64,${Buffer.from(html).toString('base64')}`
    const style = 'width: 100%; height: 720px; border: 1px solid #8884'
    return {
      'text/plain': text,
      'text/html': `<iframe title="${escapeMarkup(text)}" sandbox="allow-scripts" style="${style}" src="${source}"></iframe>`,
    }
  }
}

/** @param words takes what each agent said last */
async function* detailsIn(
  { folders, trials: all }: PageOf,
  words: Map<string, string>,
): AsyncGenerator<Details> {
  const room = lastWordsRoom(all.length)
  for (const { dir, nameOf, trials } of folders) {
    const counted = new Map(trials.map((record) => [record.key, record]))
    for await (const one of detailsOf(dir, counted)) {
      const record = nameOf(one.record)
      const last = room > 0 ? lastWords(one.entries, room) : null
      if (last !== null) words.set(record.key, last)
      yield { ...one, key: record.key, record }
    }
  }
}

/** What was read of the trials' details: the part of each, and its last words. */
type Read = { places: ReadonlyMap<string, number>; words: ReadonlyMap<string, string> }

/** The list of trials: columns in the order that the page's scripts know. */
function packedRows({ overview, trials, repeats }: PageOf, { places, words }: Read): Packed {
  const texts: string[] = []
  const known = new Map<string, number>()
  const place = (text: string | undefined) => {
    if (text === undefined) return -1
    const at = known.get(text)
    if (at !== undefined) return at
    known.set(text, texts.length)
    return texts.push(text) - 1
  }
  const cases = new Map(overview.cases.map(({ id }, i) => [id, i]))
  const configurations = new Map(overview.configurations.map(({ name }, i) => [name, i]))
  const metrics = Object.keys(METRICS) as Metric[]
  const rows = trials.map((row): Json[] => [
    // A key says what stands beside it, and is left out where it says nothing else.
    row.key === trialKey(row.case, row.configuration, row.trial) ? null : row.key,
    cases.get(row.case) ?? -1,
    configurations.get(row.configuration) ?? -1,
    row.trial,
    row.outcome,
    row.goal,
    row.attack,
    row.overclaims,
    row.calls,
    row.tokens && row.tokens.input + row.tokens.output,
    row.cost_usd,
    Math.round(row.duration_ms),
    Date.parse(row.started_at) - overview.began,
    [row.levels.asserted, row.levels.observed_confirmed, row.levels.verified],
    row.outcome === 'error' ? '' : overview.marks.map((name) => +MARKS[name](row)).join(''),
    place(row.outcome === 'error' ? undefined : row.ending),
    place(why(row)[0]),
    place(words.get(row.key)),
    places.get(row.key) ?? -1,
    // A trial that ended in an error is in no rate, nor is one that repeats another.
    metrics
      .map((name) =>
        row.outcome === 'error' || repeats.has(row.key) ? '-' : (METRICS[name].score(row) ?? '-'),
      )
      .join(''),
  ])
  return { texts, rows }
}

async function document(
  of: PageOf,
  read: Read,
  inside: readonly string[],
  beside: string | null,
): Promise<string> {
  const overview = { ...of.overview, beside }
  const [{ script, style }, index] = await Promise.all([
    viewSource(),
    pack({ overview, packed: packedRows(of, read) }),
  ])
  // A page with parts beside it lets its own script, and nothing else, load them.
  const scripts = [hashOf(script), ...(beside === null ? [] : ["'strict-dynamic'"])].join(' ')
  const policy = `default-src 'none'; script-src ${scripts}; style-src ${hashOf(style)}; img-src data:; base-uri 'none'; form-action 'none'`
  const data = inside.map((text, i) => `<script type="text/plain" id="part-${i}">${text}</script>`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeMarkup(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeMarkup(`Run ${overview.id}`)}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<a class="skip" href="#main">To the content</a>
<main id="main" tabindex="-1"><noscript><pre>${escapeMarkup(of.text)}</pre></noscript></main>
<script type="text/plain" id="index">${index}</script>
${data.join('\n')}
<script>${script}</script>
</body>
</html>
`
}
