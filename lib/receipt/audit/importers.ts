/** The registered importers, and which of them reads a document. */
import { gotWord } from '../../choice.ts'
import { TouchstoneError } from '../../errors.ts'
import { isObject, type Json } from '../../json.ts'
import { azure, entra } from './azure.ts'
import { cloudtrail } from './cloudtrail.ts'
import { gcp, gke } from './gcp.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'
import { google } from './google.ts'
import type { Importer } from './importer.ts'
import { type ImporterData, importerFrom, wrongIn } from './importer-data.ts'
import { kubernetes } from './kubernetes.ts'
import { okta } from './okta.ts'
import { slack } from './slack.ts'
import { stripe } from './stripe.ts'

const SHIPPED: readonly Importer[] = [
  github,
  kubernetes,
  cloudtrail,
  stripe,
  slack,
  okta,
  gcp,
  gke,
  azure,
  entra,
  google,
  gitlab,
]

let registered: readonly Importer[] = SHIPPED

/** True for the name of an importer that comes with Touchstone. */
export function isShippedImporter(name: string): boolean {
  return SHIPPED.some((one) => one.name === name)
}

/** Every registered importer: the shipped ones, then those that were added. */
export function importers(): readonly Importer[] {
  return registered
}

/**
 * Register an importer: three functions, or data that says where an entry keeps what. Registering
 * a name of one's own again replaces it, so a notebook cell can be run twice. A name that ships is
 * refused.
 *
 * @throws TouchstoneError `importer_invalid` naming the member that is wrong
 */
export function importer(given: Importer | ImporterData): Importer {
  const wrong = (where: string, expected: string): never => {
    throw new TouchstoneError('importer_invalid', `expected ${expected}`, {
      where: `importer ${given?.name ?? '?'}: ${where}`,
    })
  }
  const isData = Array.isArray(given?.recognises)
  const bad = isData ? wrongIn(given as ImporterData) : null
  if (bad) wrong(...bad)
  const definition = isData ? importerFrom(given as ImporterData) : (given as Importer)
  for (const name of ['name', 'provider'] as const)
    if (typeof definition?.[name] !== 'string' || definition[name] === '') wrong(name, 'a text')
  if (isShippedImporter(definition.name))
    wrong('name', `a name that no shipped importer has, got ${definition.name}`)
  for (const name of ['recognises', 'entries', 'read'] as const)
    if (typeof definition[name] !== 'function') wrong(name, 'a function')
  if (!isObject(definition.kinds)) wrong('kinds', 'an object')
  const known = registered.findIndex((one) => one.name === definition.name)
  registered = known < 0 ? [...registered, definition] : registered.with(known, definition)
  return definition
}

/** @throws TouchstoneError `argument_invalid` for a name that no importer has */
export function importerNamed(name: string): Importer {
  const found = registered.find((one) => one.name === name)
  if (found) return found
  const names = registered.map((one) => one.name)
  throw new TouchstoneError(
    'argument_invalid',
    `expected one of ${names.join(', ')}, ${gotWord(name, names)}`,
    { where: 'provider' },
  )
}

/** The importer that knows an entry or an envelope, or null. */
export function importerOf(document: Json | undefined): Importer | null {
  if (!isObject(document)) return null
  return registered.find((one) => one.recognises(document)) ?? null
}
