import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { isPromise } from 'node:util/types'
import { EXAMPLES, RUN_HINTS, scope } from '../../lib/cli/prompt.ts'
import { createEvaluator } from '../../lib/code/evaluate.ts'
import { COMMANDS, type Desk } from '../../lib/repl/commands.ts'
import { enter } from '../../lib/repl/enter.ts'
import { temporaryFolder } from '../temporary.ts'

const found = await scope()

describe('every hint that is printed works as printed', () => {
  const home = process.cwd()
  before(() => process.chdir(temporaryFolder()))
  after(() => process.chdir(home))

  const evaluator = createEvaluator({ scope: found })
  const printed: string[] = []
  const desk: Desk = {
    look: () => ({ width: 80 }),
    print: (text) => void printed.push(text),
    show: async (text) => void printed.push(text),
    async run(code) {
      const { value } = await evaluator.evaluate(code)
      assert.ok(!isPromise(value), `${code} gives a promise`)
      return { ok: true, durationMs: 0 }
    },
    session: () => [],
    saving: { given: new Set(), from: 'touchstone' },
    has: (name) => Object.hasOwn(evaluator.scope, name),
    lastError: () => undefined,
    frames: () => [],
    examples: EXAMPLES,
    cwd: home,
    leave() {},
  }
  for (const code of [
    ...EXAMPLES.map((example) => example.code),
    "const run = await harness.run(some).config('naive', { model: 'sim/naive' }).config('careful', { model: 'sim/careful' }).repeat(1)",
    ...RUN_HINTS,
    ...Object.values(COMMANDS)
      .map(({ usage }) => usage)
      .filter((usage) => !/\.(save|load|time|plot)/.test(usage)),
    '.time 1 + 1',
    'run',
    '.plot',
    'help',
    '?receipt.verify',
    'probe.connect?',
  ])
    test(code, () => enter(code, desk, evaluator.scope))
})
