/**
 * The records of a bundle: which of its events belong to the profile, and whether each is formed as
 * it has to be.
 *
 * Every violation is reported. What an event outside of the profile's namespaces says is nobody's
 * business here.
 */
import { isDigest } from '../../canonical.ts'
import { isObject, type Json, type JsonObject } from '../../json.ts'
import { EVENTS } from './archive.ts'
import type { BundleEvent } from './events.ts'
import { shownAs } from './manifest.ts'
import {
  DECISION_NON_CLAIMS,
  DECISION_SCHEMA,
  DRIFT_STATES,
  ESTABLISH_PATHS,
  ESTABLISH_SCHEMA,
  NAMESPACES,
  NOT_PERFORMED,
  OBSERVATION_NON_CLAIMS,
  type Profile,
  REASONS,
  RULES,
} from './profile.ts'

export type BundleFinding = {
  /**
   * `integrity`: the bundle is not whole. `violation`: a record breaks the profile.
   * `contradiction`: two records disagree.
   */
  kind: 'integrity' | 'violation' | 'contradiction'
  /** A stable word for it. */
  code: string
  /** File, line and member. */
  where: string
  /** "expected X, got Y". */
  detail: string
}

/** Findings that a report holds. A hostile bundle may have millions of events, each with one. */
const MOST_FINDINGS = 1000

/**
 * Violations in the order in which they were found. Beyond the most that a report holds they are
 * counted.
 */
class Violations {
  readonly list: BundleFinding[] = []
  private more = 0

  add(code: string, where: string, detail: string): void {
    if (this.list.length < MOST_FINDINGS) this.list.push({ kind: 'violation', code, where, detail })
    else this.more++
  }

  all(): BundleFinding[] {
    if (this.more === 0) return this.list
    const detail = `expected at most ${MOST_FINDINGS} findings in a report, got ${this.more} more`
    return [...this.list, { kind: 'violation', code: 'findings_left_out', where: EVENTS, detail }]
  }
}

export type Kind = 'decision' | 'observation' | 'establish'

export type Found = { where: string; data: JsonObject }

/**
 * The records of a bundle, kept while its events go by: the first of each kind, and how many there
 * are.
 */
export class Records {
  readonly violations = new Violations()
  private readonly kinds: ReadonlyMap<string, Kind>
  private readonly held: { [kind in Kind]: { count: number; first: Found | null } } = {
    decision: { count: 0, first: null },
    observation: { count: 0, first: null },
    establish: { count: 0, first: null },
  }

  constructor(profile: Profile) {
    this.kinds = new Map<string, Kind>([
      [DECISION_SCHEMA, 'decision'],
      [RULES[profile].observation, 'observation'],
      [ESTABLISH_SCHEMA, 'establish'],
    ])
  }

  take({ line, type, data }: BundleEvent): void {
    const schema = isObject(data) ? data['schema'] : undefined
    const named = [type, schema].filter(isOurs)
    if (named.length === 0) return
    const where = `${EVENTS}:${line}`
    for (const name of new Set(named))
      if (!this.kinds.has(name))
        this.violations.add(
          'schema_unknown',
          where,
          `expected ${[...this.kinds.keys()].join(', ')}, got ${shownAs(name)}`,
        )
    if (type !== schema) {
      this.violations.add(
        'type_differs_from_schema',
        where,
        `expected the payload's schema as type, got ${shownAs(type)} beside ${shownAs(schema)}`,
      )
      return
    }
    const kind = this.kinds.get(type)
    if (kind === undefined) return
    const held = this.held[kind]
    held.count++
    held.first ??= { where, data: data as JsonObject }
  }

  /**
   * Exactly one decision, and at most one of each other kind. Adds what is wrong to the violations.
   */
  counted(): boolean {
    const before = this.violations.list.length
    for (const [kind, { count }] of Object.entries(this.held)) {
      if (kind === 'decision' && count === 0)
        this.violations.add('decision_missing', EVENTS, 'expected one decision, got none')
      if (count > 1)
        this.violations.add(
          `${kind}_repeated`,
          EVENTS,
          `expected at most one record of this kind, got ${count}`,
        )
    }
    return this.violations.list.length === before
  }

  one(kind: Kind): Found | null {
    return this.held[kind].first
  }

  /** Hold each record to its rules. */
  check(): void {
    const { violations } = this
    for (const [kind, rules] of Object.entries(RECORD_RULES)) {
      const found = this.one(kind as Kind)
      if (found) rules(new Member(found, violations))
    }
  }
}

function isOurs(name: Json | undefined): name is string {
  return typeof name === 'string' && NAMESPACES.some((prefix) => name.startsWith(prefix))
}

const RECORD_RULES: { [kind in Kind]: (record: Member) => void } = {
  decision(record) {
    record.oneOf('decision', ['allow', 'deny'], 'decision_unknown')
    record.oneOf('reason', REASONS, 'reason_unknown')
    record.oneOf('drift_state', DRIFT_STATES, 'drift_state_unknown')
    record.name('tool.name', 'tool_name_missing')
    record.digest('action.target_digest', 'target_digest_malformed')
    const closed = record.at('decision') === 'deny'
    record.must(
      record.at('fail_closed') === closed,
      'fail_closed_differs',
      'fail_closed',
      String(closed),
    )
    record.says('non_claims', DECISION_NON_CLAIMS)
  },
  observation(record) {
    record.name('call.tool_name', 'tool_name_missing')
    for (const name of ['code', 'origin', 'reason']) {
      const path = `caller_visible_error.${name}`
      const value = record.at(path)
      record.must(value !== undefined && value !== null, 'error_member_missing', path, 'a value')
    }
    record.digest('caller_visible_response_digest', 'response_digest_malformed')
    record.says('non_claims', OBSERVATION_NON_CLAIMS)
  },
  establish(record) {
    record.oneOf('establish_path', ESTABLISH_PATHS, 'establish_path_unknown')
    const outcome = record.at('run_outcome')
    record.must(typeof outcome === 'string', 'run_outcome_missing', 'run_outcome', 'a text')
    const attempted = outcome !== NOT_PERFORMED
    record.must(
      record.at('establish_attempted') === attempted,
      'establish_attempted_differs',
      'establish_attempted',
      String(attempted),
    )
  },
}

/** The member of a payload at a path. Nothing where an object on the way is missing. */
export function memberAt(data: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = data
  for (const name of path.split('.'))
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
  return value
}

/** A record's members, held to rules. */
class Member {
  private readonly record: Found
  private readonly violations: Violations

  constructor(record: Found, violations: Violations) {
    this.record = record
    this.violations = violations
  }

  at(path: string): Json | undefined {
    return memberAt(this.record.data, path)
  }

  must(holds: boolean, code: string, path: string, expected: string): void {
    if (holds) return
    const detail = `expected ${expected}, got ${shownAs(this.at(path))}`
    this.violations.add(code, `${this.record.where}: ${path}`, detail)
  }

  oneOf(path: string, known: readonly string[], code: string): void {
    this.must(known.includes(this.at(path) as string), code, path, known.join(' | '))
  }

  name(path: string, code: string): void {
    const value = this.at(path)
    this.must(typeof value === 'string' && value !== '', code, path, 'a name')
  }

  digest(path: string, code: string): void {
    this.must(isDigest(this.at(path)), code, path, '"sha256:" and 64 lower-case hex digits')
  }

  /** A list that holds each of these texts, word for word. */
  says(path: string, texts: readonly string[]): void {
    const list = this.at(path)
    if (!Array.isArray(list)) {
      this.must(false, 'non_claims_missing', path, 'a list')
      return
    }
    for (const text of texts) this.must(list.includes(text), 'non_claim_missing', path, `"${text}"`)
  }
}
