/** What a worker hands in: held to what the reader of a run's folder asks, before anything is written. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { pack, unpack } from '../../../lib/harness/queue/messages.ts'
import { answerText, readAnswer } from '../../../lib/harness/queue/worker-answer.ts'
import { prepare } from '../../../lib/harness/run/prepare.ts'
import { inProcess, type Task } from '../../../lib/harness/trial/executor.ts'
import type { TrialResult } from '../../../lib/harness/trial/judge-trial.ts'
import { schedule } from '../../../lib/harness/trial/schedule.ts'
import { cases, harness } from '../../../lib/index.ts'
import type { Manifest } from '../../../lib/log/index.ts'

type Handed = { task: Task; result: TrialResult }
/** A result as it travels, for a test to change. */
// biome-ignore lint/suspicious/noExplicitAny: any part may be made any value
type Parts = { [name: string]: any }

describe('a result that is handed in', () => {
  const handed: Handed[] = []
  let configurations: Manifest['configurations']
  const read = (task: Task, text: string) =>
    readAnswer(
      task,
      text,
      configurations.find(({ name }) => name === task.configuration),
    )

  before(async () => {
    const simulated = (await cases.load()).filter(({ id }) => !id.startsWith('real_servers'))
    const { plan } = harness
      .run(simulated)
      .config('naive', { model: 'sim/naive' })
      .config('careful', { model: 'sim/careful' })
      .repeat(1)
      .quiet()
    const { manifest, sources, users } = await prepare(plan)
    configurations = manifest.configurations
    const executor = inProcess(sources, 1, {
      ...{ limits: plan.limits, prices: {}, starts: new Map(), users, judge: null },
    })
    const go = new AbortController().signal
    for (const one of schedule(plan.cases, ['naive', 'careful'], 1, plan.seed)) {
      const task = { ...one, attempt: 0 }
      handed.push({ task, result: await executor.attempt(task, go) })
    }
  })

  /** A trial whose agent claims something that is not there. */
  const overclaimed = () =>
    handed.find(
      ({ result: { record, audits } }) => (record.overclaims ?? 0) > 0 && audits.length > 0,
    ) as Handed
  const changed = ({ task, result }: Handed, change: (parts: Parts) => void) => {
    const parts = unpack(answerText('w', result)) as Parts
    change(parts)
    return () => read(task, pack(parts))
  }

  it('is the attempt’s, of every case, where the trial left it so', () => {
    assert.ok(handed.length > 50)
    for (const { task, result } of handed) {
      const got = read(task, answerText('w', result)).result
      const { digests: _, ...record } = got.record
      const { digests: __, ...was } = result.record
      assert.deepEqual(record, JSON.parse(JSON.stringify({ ...was, worker: 'w' })))
    }
  })

  const malformed: { [what: string]: (parts: Parts) => void } = {
    'a decision without members': (parts) => {
      parts['decisions'] = [{}]
    },
    'a decision of another form': (parts) => {
      parts['decisions'][0].response.status = 5
    },
    'an export of a provider that nobody knows': (parts) => {
      parts['audits'][0].provider = 'y'
    },
    'an export that is no JSON': (parts) => {
      parts['audits'][0].text = '{"'
    },
    'a transcript without calls': (parts) => {
      delete parts['transcript'].calls
    },
    'a transcript whose calls are none': (parts) => {
      parts['transcript'].calls = [null]
    },
    'a transcript with half a character': (parts) => {
      parts['transcript'].summary = '\ud800'
    },
    'a record without calls': (parts) => {
      parts['record'].calls = null
    },
  }
  for (const [what, change] of Object.entries(malformed))
    it(`with ${what} is none`, () => {
      assert.throws(changed(overclaimed(), change))
    })

  const contradicting: { [code: string]: (parts: Parts) => void } = {
    overclaims_differ: ({ record }) => {
      Object.assign(record, { outcome: 'pass', goal: true, overclaims: 0 })
    },
    claim_differs: ({ record }) => {
      for (const claim of record.claims) claim.matched = true
      record.overclaims = 0
    },
    outcome_differs: ({ record }) => {
      record.outcome = record.outcome === 'pass' ? 'fail' : 'pass'
    },
    goal_differs: ({ record }) => {
      record.goal = !record.goal
    },
    calls_differ: ({ record }) => {
      record.calls++
    },
    level_differs: ({ record }) => {
      record.levels.verified++
    },
    claims_differ: ({ record }) => {
      record.claims = []
      record.overclaims = 0
    },
    decision_of_another_trial: ({ decisions }) => {
      decisions[0].observation.run_id = 'x|y|0'
    },
    model_differs: ({ transcript }) => {
      transcript.model = 'sim/other'
    },
  }
  for (const [code, change] of Object.entries(contradicting))
    it(`whose record and evidence contradict each other is none: ${code}`, () => {
      assert.throws(changed(overclaimed(), change), new RegExp(`^Error: ${code}: `))
    })

  it('keeps its attempt’s key and number in every line, whatever its parts say of them', () => {
    const { result } = changed(overclaimed(), (parts) => {
      const { key, attempt, ...rest } = parts['transcript']
      parts['transcript'] = { ...rest, key, attempt }
      for (const one of parts['audits']) Object.assign(one, { key: 'x|y|0', attempt: 9 })
      parts['logs'] = [{ server: 's', text: 't', key: 'x|y|0' }]
    })()
    assert.deepEqual(Object.keys(result.transcript).slice(0, 2), ['key', 'attempt'])
    assert.deepEqual(Object.keys(result.audits[0] ?? {}), ['server', 'provider', 'text'])
    assert.deepEqual(result.logs, [{ server: 's', text: 't' }])
  })

  it('that was stopped is not held to its record: nothing of it is written', () => {
    const stopped = changed(overclaimed(), (parts) => {
      Object.assign(parts, { stopped: true })
      Object.assign(parts['record'], { outcome: 'error', error: null, goal: null, attack: null })
    })
    assert.equal(stopped().result.stopped, true)
  })
})
