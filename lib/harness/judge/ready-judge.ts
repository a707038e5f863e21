/** A judge model ready to read: found once, asked once per answer. */
import type { Digest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { type ModelSource, sourceOf, type TrialWire } from '../agent/model.ts'
import type { Cassette } from '../model/cassette.ts'
import type { Limiters } from '../model/limiter.ts'
import { Deadline } from '../model/trial-clock.ts'
import {
  JUDGE_INSTRUCTIONS,
  type JudgedText,
  type JudgeReading,
  readByModel,
} from './judge-model.ts'
import { type JudgeSettings, judgeDigest } from './measured-reader.ts'

export type Judge = {
  id: string
  digest: Digest
  source: ModelSource
  read(text: JudgedText, wire?: Pick<TrialWire, 'drain' | 'refused'>): Promise<JudgeReading>
}

/** How long one answer may take to be read. */
const READ_MS = 120_000

/** Find a judge's model. @throws TouchstoneError `model_unknown`, `setting_missing` */
export async function judgeOf(
  settings: JudgeSettings,
  limiters: Limiters,
  cassette: Cassette | null = null,
): Promise<Judge> {
  const source = (await sourceOf('judge', settings, limiters, cassette)) as ModelSource
  if (source.simulated)
    throw new TouchstoneError(
      'argument_invalid',
      `expected a model that reads, got ${source.id}, which only follows solutions`,
      { where: 'judge' },
    )
  const { temperature, maxOutputTokens, providerOptions } = settings
  return {
    id: source.id,
    digest: judgeDigest(source.id, settings, JUDGE_INSTRUCTIONS),
    source,
    read(text, wire = { drain: new AbortController().signal, refused() {} }) {
      const model = source.forTrial(
        { case: null as never, seed: '', changes: () => false },
        {
          ...wire,
          deadline: new Deadline(READ_MS),
        },
      )
      return readByModel(model, text, {
        temperature,
        maxOutputTokens,
        providerOptions,
        signal: AbortSignal.timeout(READ_MS),
      })
    },
  }
}
