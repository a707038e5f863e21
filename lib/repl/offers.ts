/** What can be typed inside a call: names of an option object, and texts. */
import type { Names } from '../code/evaluate.ts'
import { packaged } from '../packaged.ts'
import type { Call } from './chain.ts'
import { completePath } from './complete-path.ts'
import { classOf, follow, isNamespace, type Known, namespaceOf, own } from './follow.ts'
import { memberNamesOf, memberType, parameterType, type TypeText, textsOf } from './signature.ts'
import { type Entry, exportedAs, find } from './sources.ts'

/** What stands round a string at the cursor, for a value that can complete it. */
type StringContext = {
  /** Method that the string is an argument of. */
  method: string
  /** Counted from 0. */
  argument: number
  /** The option whose value the string is; absent where it is the argument itself. */
  option?: string
  /** Text between the quote and the cursor. */
  text: string
}

/**
 * A run offers strings by this method for calls on it, such as keys of trials. Only the library's
 * own is called, on what the library made.
 */
const COMPLETE_STRING = Symbol.for('touchstone.completeString')

/** Names that the object at the end of a call may have, and has not yet. */
export function optionNames(call: Call, scope: Names): string[] {
  if (call.has === null) return []
  const type = typeAt(call, scope)
  const has = new Set(call.has)
  return type ? memberNamesOf(type).filter((name) => !has.has(name)) : []
}

/**
 * Texts that may stand where a string in a call is: as a value offers them, as the type names them,
 * or as the library has things of that name.
 *
 * @param before the text up to the string
 */
export async function textsFor(
  call: Call,
  before: string,
  text: string,
  scope: Names,
  cwd: string,
): Promise<string[]> {
  const method = call.steps.at(-1)?.name ?? ''
  const option = call.path.findLast((key) => key !== null)
  const context: StringContext = {
    method,
    argument: call.argument,
    text,
    ...(option && { option }),
  }
  const receiver = call.steps.length > 1 ? follow(call.steps.slice(0, -1), scope) : undefined
  for (const known of [follow(call.steps, scope), receiver]) {
    const holder = heldBy(known)
    if (classOf(holder) !== 'Run') continue
    const { Run } = await import('../harness/report/result.ts')
    // A name is no proof, and an object may stand on a run's prototype with getters of its own.
    const itself =
      Object.getPrototypeOf(holder) === Run.prototype &&
      Object.values(Object.getOwnPropertyDescriptors(holder)).every((one) => 'value' in one)
    const offer = itself && own(Run.prototype, COMPLETE_STRING)?.value
    if (typeof offer !== 'function') continue
    const texts = Reflect.apply(offer, holder, [context]) as string[]
    if (texts.length > 0) return texts
  }
  const type = typeAt(call, scope)
  const named = type ? textsOf(type) : []
  if (named.length > 0) return named
  const home = entryOf(call, scope)
  return home ? known(home.name, call, before, text, cwd) : []
}

/** What the library has of which no type says the names. */
async function known(
  name: string,
  { argument, path }: Call,
  before: string,
  text: string,
  cwd: string,
): Promise<string[]> {
  const option = path.at(-1)
  if ((name === 'server' && argument === 0 && path.length === 0) || option === 'world')
    return (await import('../world/index.ts')).worldNames()
  if (name === 'fault' && argument === 0) {
    const world = [...before.matchAll(/\bserver\(\s*['"]([\w-]+)['"]/g)].at(-1)?.[1]
    const { worldNamed, worldNames } = await import('../world/index.ts')
    return world && worldNames().includes(world) ? Object.keys(worldNamed(world).tools) : []
  }
  if (option === 'model') {
    const { SIMULATED } = await import('../harness/agent/simulated.ts')
    const { PROVIDERS } = await import('../harness/model/providers.ts')
    return [...Object.keys(SIMULATED), ...Object.keys(PROVIDERS).map((one) => `${one}/`)]
  }
  if (name === 'load' && text.startsWith('cases') && completePath('cases', cwd)[0].length === 0) {
    const [names, stub] = completePath(text, packaged('.'))
    return names.map((one) => text.slice(0, text.length - stub.length) + one)
  }
  return []
}

/** The type of what stands at the end of a call. */
function typeAt(call: Call, scope: Names): TypeText | undefined {
  const entry = entryOf(call, scope)
  let type = entry && parameterType(entry, call.argument)
  for (const key of call.path) type = type && memberType(type, key)
  return type
}

/** The function of the library that is called. One of the session is none, whatever its name. */
function entryOf({ steps }: Call, scope: Names): Entry | undefined {
  const path = steps.map(({ name }) => name)
  const name = path.at(-1) as string
  if (steps.length === 1) {
    const value = heldBy(follow(steps, scope))
    const home = typeof value === 'function' ? namespaceOf(value, scope) : undefined
    return home === undefined ? undefined : (exportedAs(home, value) ?? find([home, name]))
  }
  const receiver = follow(steps.slice(0, -1), scope)
  if (!receiver) return undefined
  if ('type' in receiver)
    return receiver.promised ? undefined : ofType(name, receiver.type, receiver.near)
  const { value } = receiver
  if (isNamespace(value)) return exportedAs(path.at(-2) as string, value[name]) ?? find(path)
  const made = classOf(value)
  return made === undefined || made === 'Object' ? find(path) : ofType(name, made)
}

function ofType(name: string, type: string, near?: string): Entry | undefined {
  const found = find([type, name], type, near)
  return found?.of === type ? found : undefined
}

function heldBy(known: Known | undefined): unknown {
  return known && 'value' in known ? known.value : undefined
}
