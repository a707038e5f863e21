/** One real run with its receipt, made once and copied for each test that alters it. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { cpSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { cases, harness, receipt, scenarios } from '../../../lib/index.ts'
import { temporaryFolder } from '../../temporary.ts'

const folder = temporaryFolder('receipt')

export const root = join(folder, 'sets')
export const original = join(folder, 'run')
export const keys = receipt.keys.generate()
export const tested = (
  await cases.load([
    'cases/lying_success/deploy-key.yaml',
    'cases/description_poisoning/second-key.yaml',
  ])
).filter(({ id }) => id !== 'description_poisoning/second-key.benign')
export const set = scenarios.publish(tested, {
  id: 'small-set',
  version: '1.0',
  root,
  released: '2026-01-01',
})
export const run = await harness
  .run(tested)
  .config('naive', { model: 'sim/naive' })
  .config('careful', { model: 'sim/careful' })
  .repeat(2)
  .out(original)
  .quiet()
writeFileSync(join(original, 'report.md'), '# A report\n')
export const sealed = await run.receipt({ key: keys.privateKey, root })
sealed.save(original)

let copies = 0

/** A copy of the whole folder, somewhere else. */
export function copy(): string {
  const to = join(folder, `copy-${copies++}`)
  cpSync(original, to, { recursive: true })
  return to
}

export function fresh(name: string): string {
  return join(folder, name)
}

export function linesIn(dir: string, file: string): string[] {
  return readFileSync(join(dir, file), 'utf8').trimEnd().split('\n')
}

export function writeLines(dir: string, file: string, lines: readonly string[]): void {
  writeFileSync(join(dir, file), `${lines.join('\n')}\n`)
}

/** Change one line of a file. */
export function editLine(
  dir: string,
  file: string,
  at: number,
  change: (line: string) => string,
): void {
  writeLines(
    dir,
    file,
    linesIn(dir, file).map((line, i) => (i === at ? change(line) : line)),
  )
}

/** Replace a text that must be there, once. */
export function replaceIn(dir: string, file: string, from: string | RegExp, to: string): void {
  const path = join(dir, file)
  const before = readFileSync(path, 'utf8')
  const after = before.replace(from, to)
  if (after === before) throw new Error(`${file} does not hold ${from}`)
  writeFileSync(path, after)
}

type Loose = { [name: string]: Loose } & Loose[]

/** Change what a receipt says and, unless `sign` is false, sign it again: an issuer who lies. */
export function reseal(
  dir: string,
  change: (statement: Loose) => void,
  { sign = true, file = 'receipt.json' }: { sign?: boolean; file?: string } = {},
): void {
  const path = join(dir, file)
  const envelope = JSON.parse(readFileSync(path, 'utf8'))
  const statement = JSON.parse(Buffer.from(envelope.payload, 'base64').toString())
  change(statement)
  const made = sign
    ? receipt.seal(statement, { key: keys.privateKey })
    : { ...envelope, payload: Buffer.from(JSON.stringify(statement)).toString('base64') }
  writeFileSync(path, JSON.stringify(made))
}

const LOGS = ['trials.ndjson', 'decisions.ndjson', 'transcripts.ndjson', 'audit.ndjson']

/** The Merkle tree hash of RFC 6962, section 2.1, as it is written there. */
function rootOf(lines: readonly string[]): Buffer {
  const sha256 = (...parts: (string | Buffer)[]) => {
    const hash = createHash('sha256')
    for (const part of parts) hash.update(part)
    return hash.digest()
  }
  const [line] = lines
  if (line === undefined) return sha256()
  if (lines.length === 1) return sha256(Buffer.of(0), line)
  let k = 1
  while (2 * k < lines.length) k *= 2
  return sha256(Buffer.of(1), rootOf(lines.slice(0, k)), rootOf(lines.slice(k)))
}

/** Make a receipt one of version 0: with a row for each line of the trial log, and no tree but, where it is asked for, that log's. */
export async function asVersion0(dir: string, { log = true } = {}): Promise<void> {
  const { recomputed } = await check(dir)
  reseal(dir, (statement) => {
    const predicate = statement['predicate'] as Loose
    const { logs, ...others } = predicate
    const attempts = linesIn(dir, 'trials.ndjson').map((line) => {
      const { key, attempt } = JSON.parse(line)
      return { key, attempt, digest: `sha256:${createHash('sha256').update(line).digest('hex')}` }
    })
    Object.assign(statement, {
      predicateType: 'urn:touchstone:agent-run:v0',
      predicate: {
        ...others,
        schema: 'touchstone.agent_run.v0',
        summary: recomputed?.summary,
        attempts,
        ...(log && { log: logs?.['trials.ndjson'] }),
      },
    })
  })
}

/** Make a receipt's digests fit a folder that was altered: an issuer who lies thoroughly. Computed here, not by the code under test. */
export function refit(dir: string, more: (statement: Loose) => void = () => {}): void {
  const sha256 = (data: string | Buffer) =>
    `sha256:${createHash('sha256').update(data).digest('hex')}`
  reseal(dir, (statement) => {
    const predicate = statement['predicate'] as Loose
    const skip = ['receipt.json', 'test-result.json']
    const paths = globSync('**/*', { cwd: dir }).filter(
      (path) => statSync(join(dir, path)).isFile() && !skip.includes(path),
    )
    const files = paths.map((path) => {
      const bytes = readFileSync(join(dir, path))
      return { path, digest: sha256(bytes), size_bytes: bytes.length }
    })
    const logs = Object.fromEntries(
      LOGS.filter((name) => paths.includes(name)).map((name) => {
        const lines = linesIn(dir, name).filter((line) => line !== '')
        return [name, { lines: lines.length, root: `sha256:${rootOf(lines).toString('hex')}` }]
      }),
    )
    Object.assign(predicate, { files, logs })
    more(statement)
  })
}

export const check = (path: string, options: { key?: string | null; set?: string } = {}) =>
  receipt.verify(path, { key: keys.publicKey, root, ...options })

/** `step: code` of everything that failed. */
export function failures(result: receipt.Verification): string[] {
  return result.steps.flatMap(({ step, problems }) => [
    ...new Set(problems.map(({ code }) => `${step}: ${code}`)),
  ])
}

export const trials = linesIn(original, 'trials.ndjson').map((line) => JSON.parse(line))
const decisions = linesIn(original, 'decisions.ndjson').map((line) => JSON.parse(line))
/** A trial with a call, by its place in the log. */
export const at = trials.findIndex((one) => one.calls > 0)
export const victim = trials[at]
export const place = decisions.findIndex((one) => one.key === victim.key)
/** The line of the victim's export. */
export const exported = linesIn(original, 'audit.ndjson').findIndex(
  (line) => JSON.parse(line).key === victim.key,
)
/** Put another text in the place of the victim's export. */
export const exportText = (dir: string, text: string) =>
  editLine(dir, 'audit.ndjson', exported, (line) => JSON.stringify({ ...JSON.parse(line), text }))
export const named = new RegExp(victim.key.replaceAll('|', '\\|'))

export const editTrial = (dir: string, change: (row: typeof victim) => void) =>
  editLine(dir, 'trials.ndjson', at, (line) => {
    const row = JSON.parse(line)
    change(row)
    return JSON.stringify(row)
  })
export const editManifest = (dir: string, change: (manifest: Record<string, unknown>) => void) => {
  const manifest = JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8'))
  change(manifest)
  writeFileSync(join(dir, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

export type Variant = {
  what: string
  /** Alter the copy; may answer with options for the check. */
  alter(dir: string): unknown
  /** The step that finds it, and its code. */
  finds: string
  /** What the report must name. */
  names?: RegExp
}

/** One test per variant: it fails, by the code that it names, at the place that it names. And no two variants share a code. */
export function eachIsFound(variants: readonly Variant[], { signed = false } = {}): void {
  for (const { what, alter, finds, names } of variants) {
    test(`${what}: ${finds}`, async () => {
      const dir = copy()
      const result = await check(dir, (alter(dir) ?? {}) as { key?: string; set?: string })
      assert.equal(result.verdict, 'failed')
      if (signed)
        assert.equal(result.steps.find(({ step }) => step === 'signature')?.verdict, 'verified')
      assert.ok(
        failures(result).includes(finds),
        `expected ${finds}, got ${failures(result).join(', ')}`,
      )
      const mine = result.steps.flatMap((step) =>
        step.problems.filter(({ code }) => finds === `${step.step}: ${code}`),
      )
      if (names)
        assert.ok(
          mine.some((one) => names.test(`${one.where} ${one.detail}`)),
          JSON.stringify(mine),
        )
    })
  }
  test(`each of the ${variants.length} has a code of its own`, () => {
    assert.equal(new Set(variants.map(({ finds }) => finds)).size, variants.length)
  })
}
