/** The classifiers of servers that people connect, held against the servers' own tool lists. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { importers } from '../../../lib/receipt/audit/importers.ts'
import { checkClassifier } from '../../../lib/receipt/surface/definition.ts'
import { observe } from '../../../lib/receipt/surface/observe.ts'
import {
  classifiers,
  classifiersFor,
  shippedServerOf,
} from '../../../lib/receipt/surface/registry.ts'
import { highest, keptLists, partsOf, silentOf, table } from './servers-table.ts'

const root = join(import.meta.dirname, '../../..')
const TABLE = join(root, 'docs/servers.md')

const call = (server: string, tool: string, args: object = {}) =>
  observe({ server, tool, arguments: args, status: 'success', runId: 'r', seq: 0, result: {} })

describe('servers that people connect', () => {
  it('every tool of a kept list is classified as an effect or as a read', () => {
    const unknown = keptLists().flatMap(({ name, server, list }) =>
      list.tools.flatMap((tool) => {
        const { effects, isRead } = partsOf(server, tool.name)
        return effects.length > 0 || isRead ? [] : [`${name}: ${tool.name}`]
      }),
    )
    assert.deepEqual(unknown, [])
  })

  it('every kept list is told under another name by its tools, and under the word that is named all are known', () => {
    for (const { name, list } of keptLists()) {
      const tools = list.tools.map((tool) => tool.name)
      const word = shippedServerOf(tools, 'disk9')
      assert.ok(word, name)
      const known = tools.filter((tool) => classifiersFor(tool, word).candidates.length > 0)
      assert.ok(2 * known.length > tools.length, `${name}: ${word}`)
    }
  })

  it('a tool that its server calls read-only is no effect, and one that it says writes is one', () => {
    const wrong = keptLists().flatMap(({ name, server, list }) =>
      list.tools.flatMap((tool) => {
        if (tool.readOnlyHint === undefined) return []
        const { effects } = partsOf(server, tool.name)
        return effects.length > 0 === !tool.readOnlyHint ? [] : [`${name}: ${tool.name}`]
      }),
    )
    // The first fetches a file and the last connects anew; the other one can change the context of later calls.
    assert.deepEqual(wrong, [
      'google-workspace: get_gmail_attachment_content',
      'kubernetes-flux159: kubectl_context',
      'kubernetes-flux159: kubectl_reconnect',
    ])
  })

  it('every argument that a classifier reads for a tool is a parameter of that tool', () => {
    const wrong: string[] = []
    for (const { name, server, list } of keptLists())
      for (const tool of list.tools) {
        const known = new Set(Object.keys(tool.parameters))
        if (known.size === 0) continue
        const { name: leaf, candidates } = classifiersFor(tool.name, server)
        for (const one of candidates) {
          const by = Object.hasOwn(one.tools, leaf) ? one.tools[leaf] : undefined
          if (typeof by === 'object' && !known.has(by.argument))
            wrong.push(`${name}: ${tool.name} has no ${by.argument}`)
          const values = typeof by === 'object' ? tool.parameters[by.argument] : undefined
          if (typeof by === 'object' && Array.isArray(values))
            for (const value of Object.keys(by.verbs))
              if (!values.includes(value)) wrong.push(`${name}: ${tool.name} takes no ${value}`)
          for (const { argument } of one.only?.[leaf] ?? [])
            if (!known.has(argument)) wrong.push(`${name}: ${tool.name} has no ${argument}`)
        }
      }
    assert.deepEqual(wrong, [])
  })

  it('an effect that can climb names its target out of the arguments of its tool', () => {
    const wrong = keptLists().flatMap(({ name, server, list }) =>
      list.tools.flatMap((tool) =>
        partsOf(server, tool.name).effects.flatMap((part) => {
          const silent = highest(part.effect) === 'asserted' ? [] : silentOf(part, tool)
          return silent.length === 0 ? [] : [`${name}: ${tool.name} ${part.verb} lacks ${silent}`]
        }),
      ),
    )
    // This server refunds a payment intent; another's tool of the same name refunds a charge.
    assert.deepEqual(wrong, ['stripe: create_refund create lacks charge_hash'])
  })

  it('every shipped classifier is held to the rules that a user’s own is', () => {
    const all = classifiers()
    for (const one of all)
      checkClassifier(
        one,
        all.filter((other) => other !== one),
      )
    const names = all.map(({ category }) => category)
    assert.deepEqual(
      names.filter((name, i) => names.indexOf(name) < i),
      [],
      'names that two classifiers have',
    )
  })

  it('every audit entry that a classifier names is one that an importer reads as this effect', () => {
    const read = new Set(
      importers().flatMap(({ provider, kinds }) =>
        Object.entries(kinds).map(([kind, { action_class, verb }]) =>
          [provider, kind, action_class, verb].join(' '),
        ),
      ),
    )
    const unread = classifiers().flatMap((one) =>
      Object.entries(one.effects).flatMap(([verb, { recorded }]) =>
        (Array.isArray(recorded) ? recorded : [])
          .map((kind) => [one.provider, kind, one.resource_type, verb].join(' '))
          .filter((kind) => !read.has(kind.replace('create_for_intent', 'create'))),
      ),
    )
    assert.deepEqual(unread, [])
  })

  it('every effect that an importer reads is one that a classifier says is recorded', () => {
    const said = new Set(
      classifiers().flatMap((one) =>
        Object.entries(one.effects).flatMap(([verb, { recorded }]) =>
          Array.isArray(recorded) ? [`${one.provider} ${one.resource_type} ${verb}`] : [],
        ),
      ),
    )
    const unsaid = importers().flatMap(({ provider, kinds }) =>
      Object.values(kinds)
        .map(({ action_class, verb }) => `${provider} ${action_class} ${verb}`)
        .filter((effect) => !said.has(effect)),
    )
    assert.deepEqual(unsaid, [])
  })

  it('a host’s prefix changes nothing: one rule splits it', () => {
    const args = { owner: 'o', repo: 'r', pullNumber: 7 }
    const plain = call('github', 'merge_pull_request', args)
    assert.equal(plain.classification, 'classified')
    for (const tool of [
      'mcp__github__merge_pull_request',
      'github_merge_pull_request',
      'github-merge_pull_request',
      'github/merge_pull_request',
      'github.merge_pull_request',
    ])
      assert.deepEqual(call('hub', tool, args).action, plain.action, tool)
  })

  it('a general name on a server that nothing names is unknown, not somebody’s', () => {
    for (const tool of ['create_branch', 'create_entities', 'write_file', 'create_issue', 'query'])
      assert.equal(call('acme', tool, { owner: 'o' }).classification, 'observed_unknown_tool', tool)
  })

  it('a dry run, a batch and an unknown method are incomplete, so that nothing binds to them', () => {
    const detail = (server: string, tool: string, args: object) => call(server, tool, args).detail
    const pod = { resourceType: 'pod', name: 'p', namespace: 'x' }
    assert.equal(detail('k8s', 'kubectl_delete', pod), undefined)
    assert.equal(
      detail('k8s', 'kubectl_delete', { ...pod, labelSelector: 'a=b' }),
      'condition_not_met',
    )
    assert.equal(detail('k8s', 'kubectl_patch', { ...pod, dryRun: true }), 'condition_not_met')
    const two = { entities: [{ name: 'a' }, { name: 'b' }] }
    assert.equal(detail('memory', 'create_entities', two), 'missing_entity')
    assert.equal(detail('memory', 'create_entities', { entities: [{ name: 'a' }] }), undefined)
    assert.equal(detail('github', 'label_write', { method: 'burn', name: 'x' }), 'verb_unknown')
  })

  it('docs/servers.md is the table of what is declared', () => {
    const made = table()
    if (process.env['WRITE_SERVERS']) {
      mkdirSync(join(root, 'docs'), { recursive: true })
      writeFileSync(TABLE, made)
    }
    assert.equal(readFileSync(TABLE, 'utf8'), made, 'npm run servers writes it anew')
  })
})
