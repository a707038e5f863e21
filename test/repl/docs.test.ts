import assert from 'node:assert/strict'
import { describe as group, test } from 'node:test'
import { isModuleNamespaceObject } from 'node:util/types'
import * as display from '../../lib/display.ts'
import * as errors from '../../lib/errors.ts'
import * as harness from '../../lib/harness/index.ts'
import * as touchstone from '../../lib/index.ts'
import { describe } from '../../lib/repl/docs.ts'
import { entriesOf } from '../../lib/repl/sources.ts'

const scope = {
  display,
  errors,
  harness,
  mine(a: number) {
    return a
  },
  // The same name as one of the library's.
  table: (rows: number) => rows,
  error: new errors.TouchstoneError('usage', 'expected one, got two'),
  five: 5,
}
const at = (question: string, source = false) => describe(question, scope, { width: 80 }, source)

group('?name', () => {
  test('shows signature, description and example from the source', () => {
    const text = at('display.table')
    assert.match(
      text,
      /^function table\(columns: Column\[\], rows: string\[\]\[\], look: Look = \{\}\): string\n/,
    )
    assert.match(text, /An aligned table: heads, then rows/)
    assert.match(text, /example\n {2}display\.table\(\[\{ head: 'case' \}/)
    assert.match(text, /lib\/display\.ts:\d+$/)
  })
  test('an example stands as it is typed: each function behind its namespace, by its public name', () => {
    const face = { ...touchstone } as unknown as Record<string, object>
    let examples = 0
    for (const [home, names] of Object.entries(face)) {
      if (!isModuleNamespaceObject(names)) continue
      const functions = Object.values(names).filter((one) => typeof one === 'function')
      for (const name of Object.keys(names)) {
        const [, example] = describe(`${home}.${name}`, face, {}).split('\nexample\n')
        if (example === undefined) continue
        examples++
        const code = example.replace(/'[^'\n]*'|"[^"\n]*"|\/\/.*/g, '')
        for (const [, called] of code.matchAll(/(?<![\w$.])([a-z]\w*)\(/gi))
          if (functions.some((one) => one.name === called))
            assert.match(
              code,
              new RegExp(`(const|let|function) ${called}\\b`),
              `${home}.${name}: ${called}(`,
            )
      }
    }
    assert.ok(examples > 40, String(examples))
  })
  test('a call behind the name is let off', () =>
    assert.equal(at('display.table([])'), at('display.table')))
  test('?? shows the source', () =>
    assert.match(at('display.count', true), /^export function count\(.*\n {2}return /))
  test('a namespace lists what it holds', () =>
    assert.match(at('display'), /display\.duration +Milliseconds as a person reads them/))
  test('a name that a namespace gives to something named otherwise is found', () => {
    assert.match(at('harness.case'), /^function define\(.*\n\nMake a case in TypeScript/)
    assert.match(at('harness'), /harness\.case +Make a case in TypeScript/)
    assert.match(at('harness.world'), /Define a simulated provider/)
  })
  test('a class lists its members, the private ones left out', () => {
    const text = at('harness.RunBuilder')
    assert.match(text, /\.repeat\(\) +Trials per configuration and case/)
    assert.doesNotMatch(text, /\.with\(\)/)
  })
  test('everything that harness gives out is described', () => {
    assert.doesNotMatch(at('harness'), /^harness\.\w+ *$/m)
  })
  test('a value shows its class\u2019s description', () =>
    assert.match(at('error'), /^class TouchstoneError extends Error\n\n\S/))
  test('a member is found through the class of its value', () =>
    assert.match(at('error.where'), /where/))
  test('a plain value shows itself', () => assert.match(at('five'), /^five {2}number\n5$/))
  test('a function of the session is its own, whatever the library calls so', () => {
    assert.match(at('table', true), /rows.*=> *rows$/)
    assert.doesNotMatch(at('table'), /aligned table/)
  })
  test('no line is wider than the terminal, examples aside', () => {
    for (const line of at('display.foreign').split('example')[0]!.split('\n'))
      assert.ok(line.length <= 80, line)
  })
  test('a missing name is an error in words', () => {
    assert.throws(() => at('nowhere'), {
      code: 'argument_invalid',
      message: 'expected a name in scope, got nowhere',
    })
  })
})

group('entries of a source', () => {
  const entries = entriesOf(
    [
      '/** Header. */',
      "import x from 'y'",
      '',
      '/**',
      ' * A kit.',
      ' *',
      ' * @param n how many',
      ' */',
      'export class Kit {',
      '  /** Names. */',
      '  readonly names: string[]',
      '  private hidden = 1',
      '',
      '  /** Cases. */',
      '  async cases(n: number): Promise<Case[]> {',
      '    return load(n)',
      '  }',
      '}',
      '',
      '/** Says. */',
      'export const say = (text: string) => text',
      'function inner() {}',
    ].join('\n'),
    'kit/kit.ts',
  )
  const named = (name: string) => entries.find((entry) => entry.name === name)
  test('tops and members are found with their descriptions', () => {
    assert.deepEqual(
      entries.map(({ name, of, doc }) => [name, of, doc.split('\n')[0]]),
      [
        ['Kit', null, 'A kit.'],
        ['names', 'Kit', 'Names.'],
        ['cases', 'Kit', 'Cases.'],
        ['say', null, 'Says.'],
        ['inner', null, ''],
      ],
    )
  })
  test('private members are left out', () => assert.equal(named('hidden'), undefined))
  test('a source goes from its first line to its last', () => {
    assert.equal(
      named('cases')?.source,
      'async cases(n: number): Promise<Case[]> {\n  return load(n)\n}',
    )
    assert.equal(named('Kit')?.source.split('\n').length, 10)
    assert.equal(named('Kit')?.line, 9)
  })
})
