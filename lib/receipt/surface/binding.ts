/**
 * What a call and a provider's record must have in common: the digest over `{action_class, verb,
 * target}`.
 */
import { canonical, type Digest, digest } from '../../canonical.ts'
import { TouchstoneError } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../json.ts'
import type { Binding, Classifier } from './classifier.ts'
import { shapeOf } from './decision.ts'
import { classifierOf, effectOf } from './registry.ts'

export type Subject = { action_class: string; verb: string; target: { [field: string]: string } }

/** Field -> value as text. A field that is not there was not said. */
export type Agreed = { [field: string]: string }

export type Projection =
  | {
      ok: true
      subject: Subject
      digest: Digest
      provider: string
      classifier: Classifier
      /** Values outside the digest that must agree where both sides have them. */
      agree: Agreed
    }
  | { ok: false; reason: string; detail: string }

/** `sha256(jcs({action_class, verb, target}))`. */
export function bindingDigest(subject: unknown): Digest {
  return digest(canonical(subject))
}

/**
 * The subject that an action binds by: the class's binding fields out of its target, nothing else.
 *
 * @example
 * const made = subjectOf({ resource_type: 'github_deploy_key', verb: 'create', target: {
 *   provider: 'github', owner: 'org', repo: 'prod-repo', read_only: false,
 *   key_title_hash: 'sha256:a65a94d25524f87fbb5ce6d3fde202c02a5b532f27e1ba3b5708076e1ba75ccf' } })
 * made.digest // 'sha256:31f2007b91477601789c8803c3e32912a8a4510851cc55397d49a65bbc5e4ec3'
 */
export function subjectOf(action: { resource_type: Json; verb: Json; target: Json }): Projection {
  if (!isObject(action))
    throw new TouchstoneError('argument_invalid', `expected an action, got ${shapeOf(action)}`, {
      where: 'action',
    })
  const { resource_type: kind, verb, target } = action
  if (typeof kind !== 'string') return no('no_action_class', 'the action has no resource type')
  if (typeof verb !== 'string') return no('no_verb', 'the action has no verb')
  if (!isObject(target)) return no('no_target', 'the action has no target')
  const one = classifierOf(kind, verb)
  if (!one) return no('class_unknown', 'no classifier declares how this class and verb bind')
  const made: { [field: string]: string } = {}
  const { all, any = [] } = bindingOf(one, verb)
  for (const name of [...all, ...any]) {
    const value = Object.hasOwn(target, name) ? target[name] : undefined
    const needed = all.includes(name)
    if (value === undefined || (value === null && !needed)) {
      if (needed) return no('target_field_missing', `the target lacks ${name}`)
      continue
    }
    if (typeof value !== 'string')
      return no('target_value_not_text', `the target's ${name} is no text`)
    if (name.endsWith('_hash') && !/^sha256:[0-9a-f]{64}$/.test(value))
      return no('target_hash_malformed', `the target's ${name} is no digest`)
    // Control characters were replaced by this one, so that two different names may look the same
    // here.
    if (value.includes('\ufffd'))
      return no('target_value_altered', `the target's ${name} is not as it was written`)
    made[name] = value
  }
  const subject = { action_class: kind, verb, target: made }
  const provider = Object.hasOwn(target, 'provider') ? target['provider'] : undefined
  return {
    ok: true,
    subject,
    digest: bindingDigest(subject),
    provider: typeof provider === 'string' ? provider : one.provider,
    classifier: one,
    agree: agreedOf(one, verb, target),
  }
}

/** What binds calls of a verb. */
export function bindingOf(one: Classifier, verb: string): Binding {
  return effectOf(one, verb)?.binding ?? one.binding
}

/** The values that must agree beside the digest, as texts. */
export function agreedOf(
  one: Classifier | undefined,
  verb: string,
  from: JsonObject | null | undefined,
): Agreed {
  const made: Agreed = {}
  if (!one || !from) return made
  for (const name of bindingOf(one, verb).agree ?? []) {
    const value = Object.hasOwn(from, name) ? from[name] : undefined
    if (typeof value === 'string' || typeof value === 'boolean') made[name] = String(value)
  }
  return made
}

/** True unless both sides say one field differently. */
export function agrees(one: Agreed, other: Agreed): boolean {
  return Object.keys(one).every((name) => other[name] === undefined || other[name] === one[name])
}

function no(reason: string, detail: string): Projection {
  return { ok: false, reason, detail }
}
