/**
 * What reads one provider's export. An importer is data and three small functions; it sees the
 * export and nothing else.
 */
import type { Json, JsonObject } from '../../json.ts'
import type { Authenticity } from './record.ts'

/** What an importer makes of one entry. */
export type Reading =
  | Effect
  /** An entry of a mapped kind that must not count, such as a failed one. */
  | { skipped: string; refutes?: Refuted; failed?: Failed }
  /** An entry of a kind that no classifier speaks of. */
  | { unmapped: string; refutes?: Refuted }

/** The effect that an entry says was tried and failed. `code`: the provider's own word for it. */
export type Failed = { effect: Effect; code: string }

/** The object that an entry says failed, or was taken back. `because`: the entry's own word. */
export type Refuted = { object: string; because: string }

export type Effect = {
  record_id: string
  action_class: string
  verb: string
  /**
   * What the entry says, raw, under the names of a call's arguments: it is projected and hashed
   * like those.
   */
  values: { [argument: string]: string | number | boolean | null }
  occurred_at?: string | null
  /** Raw ids of the request; they are hashed before they go into the record. */
  request_ids?: string[]
  /** Raw name of who did it; it is hashed. */
  actor?: string | null
  /** The provider's id of the object that was made or changed. One object verifies one call. */
  object?: string | null
  /**
   * What the entry says besides: the same effect by another name of its target, or further effects.
   */
  also?: Effect[]
}

/** Options of an import that concern an export's signature. */
export type AuthenticityOptions = {
  /**
   * The digest files, in any order. `signature`: hex, from the object's metadata; needed for the
   * newest one.
   */
  digests?: readonly { bytes: string | Uint8Array; signature?: string }[]
  /**
   * PEM, or base64 of PKCS#1 DER as AWS lists its keys. Several where the provider has changed its
   * key meanwhile.
   */
  publicKey?: string | readonly string[]
}

export type Importer = {
  /** Name to ask for it by, such as `cloudtrail`. */
  name: string
  /** Name in records, such as `aws`. */
  provider: string
  /** Kinds of entries that become records -> the effect that they record. */
  kinds: { [kind: string]: { action_class: string; verb: string } }
  /** True for an entry or an envelope that this provider writes. */
  recognises(document: JsonObject): boolean
  /** The entries inside an envelope; null when the document is one entry. */
  entries(document: JsonObject): Json[] | null
  /** Whose log an envelope is, where only the envelope says so. */
  scopeOf?(document: JsonObject): string | null
  /** One entry. `scope`: whose log it is, as its envelope or the reader of the export says. */
  read(entry: JsonObject, scope: string | null): Reading
  /** Check what signs the export. Default: the export carries no signature of its own. */
  authenticate?(bytes: Uint8Array, options: AuthenticityOptions): Authenticity
}

/**
 * An entry that says that what it is about failed. It counts for nothing; where it is complete
 * otherwise, it names the effect that did not come about.
 *
 * @param reading what the entry would be, had it not failed
 * @param code default: the reason
 */
export function failed(because: string, reading: Reading, code = because): Reading {
  return {
    skipped: `failed: ${because}`,
    ...('record_id' in reading && { failed: { effect: reading, code } }),
  }
}
