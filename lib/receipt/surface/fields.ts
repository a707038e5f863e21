/** Short ways to write the fields of a classifier. */
import type { Field } from './classifier.ts'

/** A plain word. It may be called otherwise among the arguments. */
export const text = (name: string, ...from: string[]): Field => ({
  name,
  kind: 'text',
  from: from.length ? from : [name],
})

export const flag = (name: string): Field => ({ name, kind: 'flag', from: [name] })

export const amount = (name: string): Field => ({ name, kind: 'amount', from: [name] })

/** An identifying value, compared byte for byte. */
export const hashed = (name: string, domain: string, ...from: string[]): Field => ({
  name,
  kind: 'hash',
  domain,
  from,
})

/** An identifying value that its provider documents as case-insensitive. */
export const folded = (name: string, domain: string, ...from: string[]): Field => ({
  ...hashed(name, domain, ...from),
  fold: 'lower',
})

/**
 * A hash as tool-decision surface v0 writes it: trimmed and in lower case, whatever the provider
 * says. Where the provider tells such values apart, a second field beside it does.
 */
export const v0Hash = (name: string, domain: string, ...from: string[]): [Field, Field] => [
  folded(`${name}_hash`, domain, ...from),
  hashed(`${name}_exact_hash`, domain, ...from),
]

export const PRIVILEGED = {
  class: 'privileged_admin_action',
  irreversibility: 'one_way_consequential',
} as const

export const MONEY = {
  class: 'money_movement',
  irreversibility: 'one_way_consequential',
} as const
