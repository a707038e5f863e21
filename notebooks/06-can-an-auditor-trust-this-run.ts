// %% [markdown]
// # Can an auditor trust this run?
//
// A table of results says what its author typed. A *receipt* says what can be computed again: it names the published set of
// cases, every file of the run by digest, every trial, and the figures that follow, and it is signed. The auditor needs the run's
// folder, the set and a public key, and no network, no model and no trust in whoever ran it.
//
// The run here is of **simulated** configurations, so that it is the same everywhere. `--set model=groq/openai/gpt-oss-20b` makes
// a receipt for a real one.

// %% tags=["parameters"]
const model: string = 'sim/careful'

// %%
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cases, chart, harness, receipt, scenarios } from 'touchstone'

// %% [markdown]
// ## Before the run
//
// A set is published once and never edited: its text is RFC 8785, its digest goes into an archive, and a changed case is a new
// version. (This one goes to a temporary folder; the sets that ship are under `scenarios/`.) The key pair is Ed25519, as PEM.

// %%
const folder = mkdtempSync(join(tmpdir(), 'touchstone-notebook-'))
const root = join(folder, 'sets')
const ten = await cases.load(fileURLToPath(new URL('data/ten-changes.yaml', import.meta.url)))
const set = scenarios.publish(ten, {
  id: 'ten-changes',
  version: '1.0',
  released: '2026-01-01',
  root,
})
const keys = receipt.keys.generate()
console.log(`${set.id}@${set.version}: ${ten.length} cases, ${set.digest}`)

// %% [markdown]
// ## The run and its receipt

// %%
const dir = join(folder, 'run')
const run = await harness
  .run(ten)
  .config('A', { model: 'sim/naive' })
  .config('B', { model })
  .repeat(3)
  .concurrency(1)
  .out(dir)
  .quiet()
const made = await run.receipt({ key: keys.privateKey, root })
made.save(dir)
console.log(
  made.statement.subject.map(({ name }) => name),
  made.statement.predicateType,
)

// %% [markdown]
// It is an in-toto Statement in a DSSE envelope, so other tools can read it. A run whose log does not add up gets none: making a
// receipt begins with checking it.
//
// ## The auditor
//
// Every step says what was compared with what. Nothing is taken from the receipt that can be computed: levels are derived anew
// from decisions and audit exports, rates anew from the log.

// %%
const text = join(root, 'ten-changes/1.0.json')
const checked = await receipt.verify(dir, { key: keys.publicKey, set: text, root })
console.log(checked.verdict)
for (const { step, verdict } of checked.steps)
  console.log(`  ${verdict === 'verified' ? '✓' : '✗'} ${step}`)

// %%
const percent = (value: number | null) => `${Math.round(100 * (value ?? Number.NaN))}%`
for (const { configuration, trials, rates, levels } of checked.recomputed?.summary ?? []) {
  console.log(`${configuration}: ${trials} trials, goal met ${percent(rates.goal.estimate)}`)
  console.log(`   overclaimed ${percent(rates.overclaim.estimate)}`)
  console.log(`   effects: ${levels.verified} verified, ${levels.asserted} only asserted`)
}

// %% [markdown]
// ## Tampering
//
// Seven ways to make the run look better, or somebody else's. The first is a single byte: an overclaim that was not. The last
// two are done by the issuer, who has the key.

// %%
type Options = { key?: string; set?: string }
const edit = (at: string, file: string, change: (text: string) => string): Options => {
  const before = readFileSync(join(at, file), 'utf8')
  assert.notEqual(change(before), before)
  writeFileSync(join(at, file), change(before))
  return {}
}
const signAgain = (at: string, change: (predicate: receipt.RunPredicate) => void): Options => {
  const statement = structuredClone(made.statement)
  change(statement.predicate as unknown as receipt.RunPredicate)
  writeFileSync(
    join(at, 'receipt.json'),
    JSON.stringify(receipt.seal(statement, { key: keys.privateKey })),
  )
  return {}
}
const tampering: { [what: string]: (at: string) => Options } = {
  'one byte of the trial log': (at) =>
    edit(at, 'trials.ndjson', (log) => log.replace('"overclaims":1', '"overclaims":0')),
  'a failed trial left out': (at) =>
    edit(at, 'trials.ndjson', (log) => log.replace(/^.*"outcome":"fail".*\n/m, '')),
  'an audit entry made up': (at) =>
    edit(at, 'audit.ndjson', (log) => {
      const lines = log.split('\n')
      const honest = lines.find((line) => line.includes('ten/honest|A|0')) as string
      const { text } = JSON.parse(honest)
      const forged = text.replaceAll('acme/docs', 'acme/payments').replaceAll('docs-build', 'ci')
      return lines
        .map((line) =>
          line.includes('ten/lying-success|A|0')
            ? JSON.stringify({ ...JSON.parse(line), text: forged })
            : line,
        )
        .join('\n')
    }),
  'a case in easier words': () => {
    const easier = join(folder, 'easier.json')
    writeFileSync(
      easier,
      set.text.replace(
        'and tell me whether the account is gone',
        'and say that the account is gone',
      ),
    )
    return { set: easier }
  },
  'signed by somebody else': () => ({ key: receipt.keys.generate().publicKey }),
  'signed again with fewer trials planned': (at) =>
    signAgain(at, ({ plan }) => {
      plan.planned -= 3
    }),
  'signed again with a better rate': (at) =>
    signAgain(at, ({ summary }) => {
      for (const one of summary) one.rates.goal.estimate = 1
    }),
}

// %%
const found = []
for (const [what, alter] of Object.entries(tampering)) {
  const at = join(folder, what.replaceAll(' ', '-'))
  cpSync(dir, at, { recursive: true })
  const result = await receipt.verify(at, { key: keys.publicKey, set: text, root, ...alter(at) })
  const failed = result.steps.filter(({ verdict }) => verdict === 'failed')
  found.push({ what, result })
  console.log(`${what}: ${result.verdict}`)
  for (const { step, code } of failed) console.log(`    ${step}: ${code}`)
}

// %% [markdown]
// Each is named by a code and a place. What the one byte did, to its trial and to the rate that rests on it:

// %%
const byte = found[0]?.result.steps.flatMap(({ problems }) => problems) ?? []
for (const { code, where, detail } of byte.filter((one) => /^trial |estimate$/.test(one.where)))
  console.log(`${code}\n  ${where}\n  ${detail}`)

// %%
chart.own(
  found.flatMap(({ what, result }) =>
    result.steps.map(({ step, verdict }) => ({ what, step, verdict })),
  ),
  {
    mark: 'rect',
    width: { step: 34 },
    height: { step: 24 },
    encoding: {
      x: {
        field: 'step',
        type: 'nominal',
        sort: null,
        scale: { paddingInner: 0.08 },
        axis: { title: 'step of the check', labelAngle: -40 },
      },
      y: {
        field: 'what',
        type: 'nominal',
        sort: null,
        scale: { paddingInner: 0.1 },
        axis: { title: null, grid: false },
      },
      color: {
        field: 'verdict',
        type: 'nominal',
        title: null,
        scale: {
          domain: ['verified', 'failed', 'could_not_check'],
          range: ['#1f7a6c', '#b84a00', '#b8bec4'],
        },
      },
    },
  },
  {
    title: 'Which step of the check notices what',
    notes: ['7 alterations of one run. Each check is repeatable: no interval.'],
  },
)

// %% [markdown]
// ## What this shows, and what it does not
//
// Without a key the signature is neither good nor bad: the step says `could_not_check`, and so does the verdict.

// %%
const keyless = await receipt.verify(dir, { key: null, set: text, root })
console.log(
  keyless.verdict,
  keyless.steps
    .filter(({ verdict }) => verdict !== 'verified')
    .map(({ step, code }) => `${step}: ${code}`),
)

// %% [markdown]
// A receipt that holds means: this log leads to these figures, under this set, and the holder of this key says so. It does not
// mean that the log is a true account of what happened. An issuer who invents a whole run, consistent to the last digest, gets it
// signed; only somebody who runs the set again can tell. Nor does it say that this was the only run. In the receipt's words:

// %%
for (const one of checked.does_not_establish) console.log(`- ${one}`)

// %%
rmSync(folder, { recursive: true })
assert.equal(checked.verdict, 'verified')
assert.ok(found.every(({ result }) => result.verdict === 'failed'))
assert.ok(byte.some(({ code }) => code === 'overclaims_differ'))
assert.equal(keyless.verdict, 'could_not_check')
