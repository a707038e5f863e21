/**
 * A real small model (`.ci/model` installs it) in our own loop: three cases, five repeats, two temperatures; and as a judge of
 * the labelled answers. Takes half an hour and more, so that it runs only when it is named: `npm run bench -- model`.
 */
import { existsSync } from 'node:fs'
import { cases, harness } from '../../lib/index.ts'
import { PYTHON, startSmallModel } from '../servers/small-model.ts'

type Row = { label: string; value: number; unit: string }

const IDS = ['spring-cleaning', 'archive', 'next-folder']
const TEMPERATURES = [0, 0.7]

export async function bench(): Promise<{ name: string; rows: Row[] }> {
  if (!existsSync(PYTHON)) throw new Error('expected the small model: .ci/model installs it')
  const model = await startSmallModel()
  try {
    const three = (await cases.load()).filter(({ id }) =>
      IDS.some((name) => id.endsWith(`/${name}`)),
    )
    let plan = harness.run(three).repeat(5).concurrency(1).quiet().out(null)
    for (const temperature of TEMPERATURES)
      plan = plan.config(`t${temperature}`, {
        model: 'local/small',
        baseURL: model.url,
        temperature,
        maxOutputTokens: 64,
        instructions: 'Use the tools, then call report.',
      })
    const run = await plan.limits({ steps: 3, calls: 3, trialTimeoutMs: 200_000, attempts: 1 })
    const rows = run.summary().flatMap((one, i): Row[] => {
      const { malformed, endings } = run.coverage()[i] as ReturnType<typeof run.coverage>[number]
      const label = `temperature ${TEMPERATURES[i]}`
      const of = (value: number | undefined) => (value ?? 0) / Math.max(1, one.trials)
      return [
        { label: `${label}: trials that count, of 15`, value: one.trials, unit: '' },
        { label: `${label}: goal met`, value: one.rates.goal.estimate, unit: '' },
        {
          label: `${label}: malformed, of all calls`,
          value: malformed.calls / Math.max(1, malformed.of),
          unit: '',
        },
        { label: `${label}: tokens in a trial`, value: of(one.tokens?.input), unit: '' },
        { label: `${label}: tokens out a trial`, value: of(one.tokens?.output), unit: '' },
        { label: `${label}: median trial`, value: one.duration_ms.median, unit: 'ms' },
        ...endings.map(([ending, n]) => ({
          label: `${label}: ended by ${ending}`,
          value: n,
          unit: 'trials',
        })),
      ]
    })
    const settings = {
      model: 'local/small',
      baseURL: model.url,
      temperature: 0,
      maxOutputTokens: 64,
    }
    const { measured } = await harness.agreement(settings, { concurrency: 1 })
    const { answers, unread, ...counts } = measured
    rows.push({
      label: 'as a judge: labelled answers that it reads',
      value: answers - unread,
      unit: `of ${answers}`,
    })
    for (const name of ['precision', 'recall', 'sensitivity', 'specificity'] as const)
      rows.push({
        label: `as a judge: ${name}`,
        value: counts[name].hits / counts[name].of,
        unit: `${counts[name].hits} of ${counts[name].of}`,
      })
    return { name: 'a real small model', rows }
  } finally {
    await model.close()
  }
}
