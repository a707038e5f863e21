/**
 * The corpus of evidence: calls, native answers and native entries, each with the highest level that it may give.
 *
 * A level above is a false promotion. A level below is a promotion that was lost. Both fail.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../lib/json.ts'
import * as receipt from '../../../lib/receipt/index.ts'
import { temporaryFolder } from '../../temporary.ts'

const root = join(import.meta.dirname, '../../..')

type Call = {
  server: string
  tool: string
  arguments: JsonObject
  actor?: string
  at?: string
  answer?: Json
  text?: string
  status?: receipt.CallStatus
  effect?: 'allow' | 'deny'
}
type Row = {
  id: string
  comment: string
  call: Call
  /** The same call once more, right behind the first. */
  again?: true
  then?: Call[]
  reads?: (Call & { before?: true })[]
  export?: { importer: string; scope?: string; entries: Json[] }
  highest: receipt.Level | 'none'
  reason: string
}

const tables = globSync('fixtures/evidence/*.json', { cwd: root })
  .sort()
  .map((path) => ({
    name: basename(path, '.json'),
    ...(JSON.parse(readFileSync(join(root, path), 'utf8')) as { source: string; rows: Row[] }),
  }))

function levelOf({ call, again, then = [], reads = [], ...row }: Row): string {
  const order = [
    ...reads.filter(({ before }) => before),
    call,
    ...(again ? [call] : []),
    ...then,
    ...reads.filter(({ before }) => !before),
  ]
  const decisions = order.map((one, seq) => observed(one, seq))
  const audit = row.export
    ? receipt.importAudit(
        row.export.importer,
        JSON.stringify(row.export.entries),
        row.export.scope === undefined ? {} : { scope: row.export.scope },
      )
    : undefined
  const report = receipt.verify(decisions, audit ? { audit } : {})
  const found = report.toJSON().calls[order.indexOf(call)]
  return found?.asserted ? (found.level ?? 'none') : 'none'
}

function observed(one: Call, seq: number): receipt.Decision {
  const text = one.text ?? (one.answer === undefined ? undefined : JSON.stringify(one.answer))
  return receipt.observe({
    server: one.server,
    tool: one.tool,
    arguments: one.arguments,
    status: one.status ?? 'success',
    runId: 'run',
    seq,
    ...(one.effect && { effect: one.effect }),
    ...(one.actor !== undefined && { actor: one.actor }),
    ...(one.at !== undefined && { at: one.at }),
    result: { content: text === undefined ? [] : [{ type: 'text', text }] },
  })
}

describe('the corpus of evidence', () => {
  for (const { name, rows } of tables) {
    it(`${name}: each of ${rows.length} rows gets the level that it may have, and no other`, () => {
      const wrong = rows.flatMap((row) => {
        const level = levelOf(row)
        return level === row.highest
          ? []
          : [`${row.id} (${row.comment}): ${level}, and not ${row.highest}, since ${row.reason}`]
      })
      assert.deepEqual(wrong, [])
    })
  }

  it('holds at least 500 rows, each with an id of its own and a reason', () => {
    for (const { name, source, rows } of tables) {
      assert.ok(source, name)
      const ids = rows.map(({ id }) => id)
      assert.equal(new Set(ids).size, ids.length, name)
      for (const { id, reason } of rows) assert.ok(reason, `${name}: ${id}`)
    }
    assert.ok(tables.reduce((sum, { rows }) => sum + rows.length, 0) >= 500)
  })

  it('has a row that rises and rows that do not, for every effect that can rise', () => {
    const rows = tables.flatMap((table) => table.rows)
    const classOf = (row: Row) => {
      const { action } = observed(row.call, 0)
      return `${action.resource_type} ${action.verb}`
    }
    const levels = new Map<string, Set<string>>()
    for (const row of rows) {
      const effect = classOf(row)
      levels.set(effect, (levels.get(effect) ?? new Set()).add(row.highest))
    }
    const servers = new Set(tables.map(({ name }) => name))
    const missing = receipt.classifiers().flatMap((one) => {
      if (!one.strict || !servers.has(one.provider.replace('google_workspace', 'google'))) return []
      return Object.entries(one.effects).flatMap(([verb, { shown, recorded }]) => {
        const seen = levels.get(`${one.resource_type} ${verb}`) ?? new Set()
        const wanted = [
          ...(Array.isArray(recorded) ? ['verified', 'asserted'] : []),
          ...(shown.by === 'nothing' ? [] : ['observed_confirmed', 'asserted']),
        ]
        return wanted.some((level) => !seen.has(level)) ? [`${one.resource_type} ${verb}`] : []
      })
    })
    assert.deepEqual(missing, [])
  })
})

describe('a file of evidence without the name of its provider', () => {
  const path = join(temporaryFolder('evidence'), 'audit.ndjson')
  const verified = (entries: JsonObject[]) => {
    writeFileSync(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
    return receipt.verify([], { audit: path }).toJSON()
  }
  const entries = JSON.parse(
    readFileSync(join(root, 'fixtures/audit/github.json'), 'utf8'),
  ).rows.map(({ input }: { input: JsonObject }) => input)

  it('is an export where its entries have a schema of their own, as some providers’ do', () => {
    const own = entries.map((entry: JsonObject) => ({ ...entry, schema: 'audit-event/v2' }))
    const [known, foreign] = [verified(entries), verified(own)]
    assert.equal(foreign.imports[0]?.counts.entries, entries.length)
    assert.deepEqual(foreign.imports[0]?.counts, known.imports[0]?.counts)
    assert.equal(foreign.records.imported, known.records.imported)
    assert.equal(foreign.records.rejected.length, known.records.rejected.length)
  })

  it('is records where they are ours, and another version of them is refused by that', () => {
    const { imports, records } = verified([
      { schema: 'assay.provider_audit_record.v1', record_id: 'r' },
    ])
    assert.deepEqual(imports, [])
    assert.deepEqual(
      records.rejected.map(({ reason }) => reason),
      ['schema_wrong'],
    )
  })

  it('is no evidence where its schema is neither ours nor of a known provider', () => {
    assert.throws(() => verified([{ schema: 'audit-event/v2', id: 'r' }]), {
      code: 'export_invalid',
    })
  })
})
