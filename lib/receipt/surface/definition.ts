/**
 * Whether a classifier is one: every member is checked, and the message names the one that is
 * wrong.
 */
import { TouchstoneError } from '../../errors.ts'
import { isObject } from '../../json.ts'
import { type Classifier, IRREVERSIBILITY, type Read, type Whole } from './classifier.ts'
import { isSecretName } from './target.ts'

type Fail = (where: string, expected: string, got: unknown) => never

/**
 * @param others the classifiers that are registered already
 * @throws TouchstoneError `classifier_invalid` naming the member that is wrong
 */
export function checkClassifier(one: Classifier, others: readonly Classifier[]): void {
  const wrong: Fail = (where, expected, got) => {
    const shown = typeof got === 'bigint' ? got : (JSON.stringify(got) ?? typeof got)
    const name = typeof one?.category === 'string' ? one.category : '?'
    throw new TouchstoneError('classifier_invalid', `expected ${expected}, got ${shown}`, {
      where: `classifier ${name}: ${where}`,
    })
  }
  if (!isObject(one)) wrong('definition', 'an object', one)
  const words = ['category', 'provider', 'resource_type', 'class', 'scope', 'reason_code'] as const
  for (const name of words)
    if (typeof one[name] !== 'string' || one[name] === '') wrong(name, 'a text', one[name])
  if (!IRREVERSIBILITY.includes(one.irreversibility))
    wrong('irreversibility', IRREVERSIBILITY.join(' | '), one.irreversibility)
  if (one.servers !== undefined && !isNames(one.servers)) wrong('servers', 'names', one.servers)
  if (one.strict !== undefined && one.strict !== true) wrong('strict', 'true', one.strict)
  const names = fieldsOf(one, wrong)
  const known = (where: string, list: unknown) => {
    if (!Array.isArray(list)) wrong(where, 'a list of field names', list)
    for (const name of list as unknown[])
      if (!names.has(name as string)) wrong(where, 'names out of fields', name)
  }
  if (!Array.isArray(one.required)) wrong('required', 'a list', one.required)
  for (const [i, row] of one.required.entries()) {
    known(`required[${i}].fields`, row?.fields)
    if (typeof row.detail !== 'string') wrong(`required[${i}].detail`, 'a code', row.detail)
  }
  const bindings = Object.entries(isObject(one.effects) ? one.effects : {}).flatMap(
    ([verb, effect]) =>
      effect?.binding ? [[`effects.${verb}.binding`, effect.binding] as const] : [],
  )
  for (const [where, binding] of [['binding', one.binding] as const, ...bindings]) {
    for (const part of ['all', 'any', 'agree'] as const)
      known(`${where}.${part}`, binding?.[part] ?? (part === 'all' ? undefined : []))
    if (binding.all.length === 0 && Object.keys(one.tools ?? {}).length > 0)
      wrong(`${where}.all`, 'at least one field', [])
    for (const name of [...binding.all, ...(binding.any ?? [])])
      if (one.fields.find((field) => field.name === name)?.kind === 'flag')
        wrong(where, 'fields that are texts', name)
  }
  known('scoped', one.scoped)
  known('kept', one.kept ?? [])
  for (const member of ['tools', 'reads', 'effects'] as const)
    if (!isObject(one[member])) wrong(member, 'an object', one[member])
  const peers = [one, ...others].filter(
    (peer) => peer.resource_type === one.resource_type && peer.provider === one.provider,
  )
  const shared = new Set(peers.flatMap((peer) => peer.fields.map((field) => field.name)))
  for (const [name, read] of Object.entries(one.reads)) checkRead(name, read, shared, wrong)
  effects(one, names, others, wrong)
}

function fieldsOf(one: Classifier, wrong: Fail): Set<string> {
  if (!Array.isArray(one.fields)) wrong('fields', 'a list', one.fields)
  const names = new Set<string>()
  for (const [i, field] of one.fields.entries()) {
    const at = `fields[${i}]`
    const name = field?.name
    if (typeof name !== 'string' || name === '' || names.has(name) || name === 'provider')
      wrong(`${at}.name`, 'a name of its own', name)
    if (!['text', 'hash', 'flag', 'amount'].includes(field.kind))
      wrong(`${at}.kind`, 'text | hash | flag | amount', field.kind)
    if (field.kind === 'hash' && !/^[a-z0-9_]+$/.test(field.domain ?? ''))
      wrong(`${at}.domain`, 'a hash domain of lower-case letters, digits and _', field.domain)
    if (field.fold !== undefined && (field.fold !== 'lower' || field.kind !== 'hash'))
      wrong(`${at}.fold`, 'lower, on a hash', field.fold)
    if (field.named !== undefined && !isNamed(field.named))
      wrong(`${at}.named`, 'other names of values -> a value or null', field.named)
    if (!isNames(field.from) || field.from.length === 0)
      wrong(`${at}.from`, 'argument names', field.from)
    if (field.from.every((name) => isSecretName(name)))
      wrong(`${at}.from`, 'arguments that hold no secret', field.from)
    names.add(name)
  }
  return names
}

function checkRead(name: string, read: Read, names: ReadonlySet<string>, wrong: Fail): void {
  const at = `reads.${name}`
  if (typeof read?.verb !== 'string' || !Array.isArray(read.answers))
    wrong(at, '{ verb, answers }', read)
  if (read.arguments !== undefined && !isNames(read.arguments))
    wrong(`${at}.arguments`, 'argument names', read.arguments)
  if (read.only !== undefined && !isConditions(read.only))
    wrong(`${at}.only`, 'conditions on arguments', read.only)
  for (const [i, answer] of read.answers.entries()) {
    const where = `${at}.answers[${i}]`
    if (typeof answer?.items !== 'string') wrong(`${where}.items`, 'a path', answer?.items)
    if (answer.bare?.some((name) => !names.has(name)))
      wrong(`${where}.bare`, 'a name out of fields', answer.bare)
    for (const [field, places] of Object.entries(answer.from ?? {})) {
      if (!names.has(field)) wrong(`${where}.from`, 'names out of fields', field)
      if (!isNames(places)) wrong(`${where}.from.${field}`, 'paths', places)
    }
    if (answer.beside !== undefined && !isNames(answer.beside))
      wrong(`${where}.beside`, 'paths', answer.beside)
    for (const reason of answer.whole ?? [])
      if (!isWhole(reason)) wrong(`${where}.whole`, 'reasons why a list is whole', reason)
  }
}

function isWhole(reason: Whole): boolean {
  if (!isObject(reason)) return false
  if ('empty' in reason) return typeof reason.empty === 'string'
  if ('count' in reason) return typeof reason.count === 'string'
  if ('unpaged' in reason) return typeof reason.unpaged === 'string' && reason.unpaged !== ''
  if ('member' in reason) return typeof reason.member === 'string' && 'is' in reason
  return (
    isNames(reason.size) &&
    isNames(reason.page) &&
    [reason.standard, reason.most].every((n) => Number.isSafeInteger(n) && n > 0)
  )
}

function effects(
  one: Classifier,
  names: ReadonlySet<string>,
  others: readonly Classifier[],
  wrong: Fail,
): void {
  const peers = [one, ...others].filter(
    (peer) => peer.resource_type === one.resource_type && peer.provider === one.provider,
  )
  for (const [name, verb] of Object.entries(one.tools)) {
    const verbs = isObject(verb) && typeof verb.argument === 'string' ? verb.verbs : { '': verb }
    if (!isTexts(verbs) || /[./]|__/.test(name))
      wrong(`tools.${name}`, 'a verb, or { argument, verbs }, for a name without a prefix', verb)
    for (const verb of Object.values(verbs))
      if (!peers.some((peer) => Object.hasOwn(peer.effects, verb)))
        wrong(`effects.${verb}`, 'how it is shown', undefined)
  }
  for (const [name, conditions] of Object.entries(one.only ?? {}))
    if (!Object.hasOwn(one.tools, name) || !isConditions(conditions))
      wrong(`only.${name}`, 'conditions on arguments of a tool of this class', conditions)
  for (const [name, values] of Object.entries(one.implied ?? {}))
    if (!Object.hasOwn(one.tools, name) || !isTexts(values))
      wrong(`implied.${name}`, 'values of arguments for a tool of this class', values)
  for (const [verb, effect] of Object.entries(one.effects)) {
    const { shown, recorded } = effect ?? {}
    const at = `effects.${verb}`
    if (shown?.by === 'nothing') {
      if (typeof shown.because !== 'string') wrong(`${at}.shown.because`, 'a reason', shown.because)
    } else if (shown && ['presence', 'absence', 'value'].includes(shown.by)) {
      for (const read of isNames(shown.reads) ? shown.reads : wrong(at, 'reads', shown))
        if (!peers.some((peer) => Object.hasOwn(peer.reads, read)))
          wrong(`${at}.shown.reads`, 'a read of this class', read)
      const { all, any = [] } = effect.binding ?? one.binding
      if (
        shown.by === 'value' &&
        !(names.has(shown.member) && [...all, ...any].includes(shown.member))
      )
        wrong(`${at}.shown.member`, 'a field that enters the digest', shown.member)
    } else wrong(`${at}.shown.by`, 'presence | absence | value | nothing', shown)
    if (!isNames(recorded) && typeof (recorded as { none?: unknown })?.none !== 'string')
      wrong(`${at}.recorded`, 'kinds of audit entries, or { none: why }', recorded)
  }
  for (const [name, read] of Object.entries(one.reads))
    if ([one, ...others].some((peer) => isWritten(peer, one.resource_type, read.verb)))
      wrong(`reads.${name}.verb`, 'a verb that no tool of the class writes with', read.verb)
}

function isWritten(one: Classifier, type: string, verb: string): boolean {
  return one.resource_type === type && Object.hasOwn(one.effects, verb)
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string')
}

function isTexts(value: unknown): value is { [name: string]: string } {
  return isObject(value) && Object.values(value).every((one) => typeof one === 'string')
}

function isNamed(value: unknown): boolean {
  return (
    isObject(value) && Object.values(value).every((one) => one === null || typeof one === 'string')
  )
}

function isConditions(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one?.argument === 'string')
}
