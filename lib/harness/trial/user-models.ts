/** The models that play the users of a run's cases: each is found once, whichever cases name it. */
import { type ModelSource, sourceOf } from '../agent/model.ts'
import type { Case } from '../case/case.ts'
import type { UserSpec } from '../case/schema/user-schema.ts'
import type { Cassette } from '../model/cassette.ts'
import type { Limiters } from '../model/limiter.ts'

/** By the name of the model. */
export type UserSources = ReadonlyMap<string, ModelSource>

/**
 * Find the models that play users.
 *
 * @throws TouchstoneError `model_unknown`, `setting_missing` naming the case
 */
export async function userSources(
  cases: readonly Case[],
  limiters: Limiters,
  cassette: Cassette | null = null,
): Promise<UserSources> {
  const found = new Map<string, ModelSource>()
  for (const { id, user } of cases) {
    const model = user?.model
    if (model === undefined || found.has(model)) continue
    const source = await sourceOf(`of the user of ${id}`, { model }, limiters, cassette)
    if (!('agent' in source)) found.set(model, source)
  }
  return found
}

/** The model that plays a user; null: a script does. */
export function playerOf({ model }: UserSpec, users: UserSources): ModelSource | null {
  return model === undefined ? null : (users.get(model) ?? null)
}
