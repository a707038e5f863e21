/** What a run was meant to be, fixed before its first trial: `manifest.json`. */
import type { Digest } from '../canonical.ts'
import { TouchstoneError } from '../errors.ts'
import type { JsonObject } from '../json.ts'

export type PlannedCase = {
  id: string
  digest: Digest
  title: string
  kind: string
  twin: string | null
  /** Variants of one task have one family. Left out where the case names none. */
  family?: string
  adversarial: boolean
}

export type PlannedConfiguration = {
  name: string
  digest: Digest
  model: string
  /** A stand-in that follows a script with declared deviation rates, not a language model. */
  simulated: boolean
  settings: JsonObject
}

export type Manifest = {
  schema: 'touchstone.manifest.v0'
  id: string
  created_at: string
  set: { id: string; version: string; digest: Digest } | null
  seed: number
  repeats: number
  /** cases x configurations x repeats, counted before the run so that picking shows. */
  planned: number
  cases: PlannedCase[]
  configurations: PlannedConfiguration[]
  /** Cases asked for and not run, with the reason. */
  left_out: { case: string; reason: string }[]
  limits: {
    steps: number
    calls: number
    tokens: number | null
    trial_timeout_ms: number
    call_timeout_ms: number
    attempts: number
    cost_usd: number | null
  }
  versions: { [name: string]: string }
  environment: { platform: string; arch: string; cpus: number }
}

/** Check a manifest read back. @throws TouchstoneError `run_invalid` */
export function requireManifest(value: unknown, where: string): Manifest {
  const manifest = value as Manifest
  const wrong = (expected: string): never => {
    throw new TouchstoneError('run_invalid', `expected ${expected}`, { where })
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) wrong('a run manifest')
  if (manifest.schema !== 'touchstone.manifest.v0') wrong('schema "touchstone.manifest.v0"')
  if (typeof manifest.id !== 'string') wrong('a string id')
  if (!Number.isSafeInteger(manifest.repeats) || manifest.repeats < 1)
    wrong('repeats to be a whole number >= 1')
  if (!Number.isSafeInteger(manifest.planned) || manifest.planned < 0)
    wrong('planned to be a whole number >= 0')
  for (const list of ['cases', 'configurations'] as const) {
    if (!Array.isArray(manifest[list])) wrong(`${list} to be an array`)
    for (const one of manifest[list])
      if (one === null || typeof one !== 'object') wrong(`${list} to hold objects`)
  }
  const texts = (one: object, names: readonly string[], what: string) => {
    for (const name of names)
      if (typeof (one as Record<string, unknown>)[name] !== 'string')
        wrong(`${name} of ${what} to be a string`)
  }
  for (const one of manifest.cases) {
    texts(one, ['id', 'digest', 'title', 'kind'], 'each case')
    if (typeof one.adversarial !== 'boolean') wrong('adversarial of each case to be true or false')
    if (one.twin !== null && typeof one.twin !== 'string')
      wrong('twin of each case to be a string or null')
    if (one.family !== undefined && typeof one.family !== 'string')
      wrong('family of each case to be a string where there is one')
  }
  for (const one of manifest.configurations) {
    texts(one, ['name', 'digest', 'model'], 'each configuration')
    if (typeof one.simulated !== 'boolean')
      wrong('simulated of each configuration to be true or false')
  }
  if (!Array.isArray(manifest.left_out)) wrong('left_out to be an array')
  for (const one of manifest.left_out)
    texts(one ?? {}, ['case', 'reason'], 'each case that was left out')
  if (manifest.set !== null) texts(manifest.set ?? {}, ['id', 'version', 'digest'], 'the set')
  return manifest
}
