import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createEvaluator, type Evaluator } from '../../lib/code/evaluate.ts'
import { signalOf } from '../../lib/signal.ts'
import fc from '../property.ts'
import { temporaryFolder } from '../temporary.ts'

/** Lines typed one after the other, and the value of the last. */
async function typed(lines: string[], evaluator: Evaluator = createEvaluator()): Promise<unknown> {
  let value: unknown
  for (const line of lines) value = (await evaluator.evaluate(line)).value
  return value
}

describe('values of lines', () => {
  const rows: [rule: string, lines: string[], value: unknown][] = [
    ['types are taken away', ['const n: number = 2', 'n satisfies number'], 2],
    ['await works at the top', ['await Promise.resolve(3)'], 3],
    [
      'for await works at the top',
      ['const a = []', 'for await (const x of [1, 2]) a.push(x)', 'a.length'],
      2,
    ],
    ['const may be declared again', ['const a = 1', 'const a = 2', 'a'], 2],
    [
      'let, class, function and import may be declared again',
      [
        'let f = 1',
        'class f {}',
        'function f() { return 3 }',
        "import { join as f } from 'node:path'",
        "f('a', 'b')",
      ],
      'a/b',
    ],
    [
      'a function sees names declared after it',
      ['function f() { return g() }', 'function g() { return 1 }', 'f()'],
      1,
    ],
    [
      'a function sees the newest declaration of a name',
      [
        'function g() { return 1 }; function f() { return g() }',
        'function g() { return 2 }',
        'f()',
      ],
      2,
    ],
    ['functions are hoisted within a line', ['const a = f(); function f() { return 7 }', 'a'], 7],
    ['a class can name itself', ['class A { static one = new A(); n = 4 }', 'A.one.n'], 4],
    [
      'patterns declare all their names',
      ['const { a, b: [c, ...d], ...e } = { a: 1, b: [2, 3], f: 4 }', '[a, c, d, e]'],
      [1, 2, [3], { f: 4 }],
    ],
    ['a pattern keeps its defaults', ['const { a = 5 } = {}', 'a'], 5],
    ['let without a value is undefined', ['let a', 'typeof a'], 'undefined'],
    ['var without a value keeps the one there is', ['var a = 1', 'var a', 'a'], 1],
    ['names can be assigned', ['let a = 1', 'a += 2', '[a] = [a + 1]', 'a++', 'a'], 5],
    ['an undeclared name can be assigned', ['a = 1', 'a'], 1],
    ['braces alone are an object', ['{ a: 1 }'], { a: 1 }],
    ['braces with a statement are a block', ['{ let a = 1; a++ }'], undefined],
    ['shorthand properties follow names', ['const a = 1', '({ a })'], { a: 1 }],
    ['inner names hide outer ones', ['const x = 1', '[2].map((x) => x)[0]'], 2],
    [
      'a catch parameter hides an outer name',
      ['const e = 1', 'let r; try { throw 2 } catch (e) { r = e }', 'r'],
      2,
    ],
    [
      'a loop variable hides an outer name',
      ['const i = 9', 'let s = 0; for (let i = 0; i < 3; i++) s += i', '[s, i]'],
      [3, 9],
    ],
    [
      'a method is called on its own object only',
      ['const f = function () { return this }', 'f()'],
      undefined,
    ],
    ['a declared function has its name', ['const f = () => 1', 'f.name'], 'f'],
    ['a tagged template finds its tag', ['const tag = (s) => s[0]', 'tag`x`'], 'x'],
    [
      'lines without semicolons stay apart',
      ['const a = 1\nconst f = (n) => n\nf(a)\n;[a].length\nf(2)'],
      2,
    ],
    ['a statement has no value', ['if (true) 5'], undefined],
    ['typeof of a missing name is undefined', ['typeof missing'], 'undefined'],
    ['import.meta tells the folder', ['import.meta.dirname'], process.cwd()],
    ['export is let through', ['export const a = 1', 'export default a', 'a'], 1],
    ['a comment alone is nothing', ['// nothing'], undefined],
    ['the last value is _ and the one before is __', ['1', '2', '[_, __]'], [2, 1]],
    ['undefined does not become _', ['1', 'undefined', '_'], 1],
    ['a declared _ stays', ['const _ = 5', '1', '_'], 5],
    ['less-than is not taken for a type argument', ['const a = 1', 'a < 2'], true],
    ['type arguments are taken away', ['new Set<string>(["a"]).size'], 1],
  ]
  for (const [rule, lines, value] of rows)
    test(rule, async () => assert.deepEqual(await typed(lines), value))
})

test('a thenable last value is not awaited: naming a builder does not start it', async () => {
  let started = false
  const builder = {
    // biome-ignore lint/suspicious/noThenProperty: a builder that is thenable is what is tested
    then() {
      started = true
    },
  }
  const { value } = await createEvaluator({ scope: { builder } }).evaluate('builder')
  assert.equal(value, builder)
  assert.equal(started, false)
})

test('names stay in their scope: a declared performance is not the process\u2019s', async () => {
  const clock = globalThis.performance
  const evaluator = createEvaluator()
  assert.equal(await typed(['const performance = 1', 'performance'], evaluator), 1)
  assert.equal(globalThis.performance, clock)
  assert.equal(typeof (await typed(['performance'])), 'object')
})

test('a getter in the scope is read when it is used, and can be declared again', async () => {
  let reads = 0
  const evaluator = createEvaluator({
    scope: {
      get heavy() {
        reads++
        return 1
      },
    },
  })
  await typed(['1 + 1'], evaluator)
  assert.equal(reads, 0)
  assert.equal(await typed(['heavy'], evaluator), 1)
  assert.equal(await typed(['const heavy = 2', 'heavy'], evaluator), 2)
})

test('imports and import() start from cwd', async () => {
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, 'a.mts'), 'export const n: number = 4\nexport default 5\n')
  const evaluator = createEvaluator({ cwd })
  assert.deepEqual(
    await typed(
      ["import d, { n } from './a.mts'", "import * as all from './a.mts'", '[d, n, all.n]'],
      evaluator,
    ),
    [5, 4, 4],
  )
  assert.equal(await typed(["(await import('./a.mts')).n"], evaluator), 4)
  await assert.rejects(
    typed(["import { nope } from './a.mts'"], evaluator),
    /does not export 'nope'/,
  )
})

test('this package can be imported from a folder that has no packages', async () => {
  const evaluator = createEvaluator({ cwd: temporaryFolder() })
  assert.equal(
    await typed(
      ["import { TouchstoneError } from 'touchstone'", 'TouchstoneError.name'],
      evaluator,
    ),
    'TouchstoneError',
  )
})

describe('errors', () => {
  test('a name that is had elsewhere is told where, alone and as a member', async () => {
    const scope = {
      run: { shows: 1 },
      shown: 1,
      [Symbol.for('touchstone.elsewhere')]: { show: 'run.transcript(KEY)' },
    }
    const { evaluate } = createEvaluator({ scope })
    await assert.rejects(evaluate('show()'), {
      message: 'show is not defined; there is run.transcript(KEY)',
    })
    await assert.rejects(evaluate('run.show()'), {
      message: 'run has no member show; there is run.transcript(KEY)',
    })
    await assert.rejects(evaluate('toString2()'), { message: 'toString2 is not defined' })
  })

  const rows: [rule: string, line: string, message: RegExp][] = [
    ['a missing name is named', 'missing', /^missing is not defined$/],
    ['... with the name that was meant', 'lonng', /^lonng is not defined; did you mean long\?$/],
    [
      'a missing member is named with the one that was meant',
      'class A { compare() {} }; const a = { b: new A() }; a.b.comapre()',
      /^a\.b has no member comapre; did you mean compare\?$/,
    ],
    [
      '... of a text too',
      "'x'; const s = 'x'; s.lenght()",
      /^s has no member lenght; did you mean length\?$/,
    ],
    [
      '... and as a class',
      'const n = { Map }; new n.Mpa()',
      /^n has no member Mpa; did you mean Map\?$/,
    ],
    ['a member that is like no other is none', 'long.xyz()', /^long\.xyz is not a function$/],
    ['a member that is there is not missing', 'long.map()', /^long\.map is not a function$/],
    [
      'a getter is not run again for a hint, nor is a proxy asked',
      'let ran = 0; const g = { get a() { ran++; return { bcd: ran } } }; try { g.a.bce() } catch (error) { if (ran !== 1) throw "twice"; throw error }',
      /^g\.a\.bce is not a function$/,
    ],
    ['what is no function is named as it was typed', 'n()', /^n is not a function$/],
    [
      'a syntax error tells line and column',
      'const a = 1\nconst b = ;',
      /^Unexpected token \(prompt:2:11\)$/,
    ],
    ['an enum is refused in words', 'enum A { B }', /enum is not supported/],
  ]
  for (const [rule, line, message] of rows) {
    test(rule, async () => {
      const evaluator = createEvaluator({ scope: { n: 1, long: { map: 1, maps: 2 } } })
      await assert.rejects(
        evaluator.evaluate(line),
        (error: Error) => message.test(error.message) || assert.fail(error.message),
      )
    })
  }
  test('a name whose value never came is not declared', async () => {
    const evaluator = createEvaluator()
    await assert.rejects(evaluator.evaluate('const a = missing'))
    assert.equal(await typed(['typeof a'], evaluator), 'undefined')
    await assert.rejects(evaluator.evaluate('a'), /a is not defined/)
  })
  test('the stack tells the line of the code', async () => {
    const evaluator = createEvaluator()
    await assert.rejects(
      evaluator.evaluate('const a = 1\n\nthrow new Error("x")', { filename: 'cell-1' }),
      (error: Error) => /cell-1:3:/.test(error.stack ?? ''),
    )
  })
})

describe('signals', () => {
  test('an aborted line gives the prompt back at once', async () => {
    const controller = new AbortController()
    const evaluator = createEvaluator({
      scope: { forever: new Promise(() => {}), stop: () => controller.abort() },
    })
    await assert.rejects(
      evaluator.evaluate('stop(); await forever', { signal: controller.signal }),
      {
        name: 'AbortError',
      },
    )
    assert.equal(await typed(['1 + 1'], evaluator), 2)
  })
  test('calls find the signal of the line at work, and none afterwards', async () => {
    const { signal } = new AbortController()
    const evaluator = createEvaluator({ scope: { signalOf } })
    assert.equal((await evaluator.evaluate('signalOf()', { signal })).value, signal)
    assert.equal((await evaluator.evaluate('signal', { signal })).value, signal)
    assert.equal(signalOf(), undefined)
  })
  test('what a stopped line still does finds its aborted signal, not that of the next line', async () => {
    const first = new AbortController()
    const go = Promise.withResolvers<void>()
    const seen = Promise.withResolvers<AbortSignal | undefined>()
    const tell = () => seen.resolve(signalOf())
    const evaluator = createEvaluator({ scope: { go: go.promise, tell, first } })
    const line = evaluator.evaluate('first.abort(); await go; tell()', { signal: first.signal })
    await assert.rejects(line, { name: 'AbortError' })
    const next = new AbortController()
    const waits = evaluator.evaluate('await 0; await 0', { signal: next.signal })
    go.resolve()
    assert.equal(await seen.promise, first.signal)
    await waits
  })
  for (const which of ['line', 'own'] as const) {
    test(`a call with a signal of its own heeds both: ${which}`, async () => {
      const controllers = { line: new AbortController(), own: new AbortController() }
      const evaluator = createEvaluator({ scope: { signalOf, own: controllers.own.signal } })
      const { value } = await evaluator.evaluate('signalOf(own)', {
        signal: controllers.line.signal,
      })
      assert.equal((value as AbortSignal).aborted, false)
      controllers[which].abort()
      assert.equal((value as AbortSignal).aborted, true)
    })
  }
})

for (const moment of ['begins', 'ends'] as const) {
  test(`SIGINT breaks a line as soon as what wraps it ${moment}`, async () => {
    const interrupted = () => {
      process.kill(process.pid, 'SIGINT')
      for (;;);
    }
    const around = <T>(work: () => T): T => {
      if (moment === 'begins') interrupted()
      const value = work()
      interrupted()
      return value
    }
    await assert.rejects(createEvaluator().evaluate('1', { breakOnSigint: true, around }), {
      code: 'ERR_SCRIPT_EXECUTION_INTERRUPTED',
    })
  })
}

test('using lives until close, and is then disposed last first', async () => {
  const closed: string[] = []
  const make = (name: string) => ({ [Symbol.dispose]: () => closed.push(name) })
  const evaluator = createEvaluator({ scope: { make } })
  await typed(["using a = make('a')", "using b = make('b')", '1'], evaluator)
  assert.deepEqual(closed, [])
  await evaluator.close()
  assert.deepEqual(closed, ['b', 'a'])
})

describe('whether a line is complete', () => {
  const { isComplete } = createEvaluator()
  const open = [
    'f(',
    'const a = [',
    '`a',
    '`${',
    '/* a',
    'const a =',
    'const a: number =',
    'a.',
    'a +',
    'if (a) {',
    'class A {',
    'interface A {',
    'new Set<string>([',
    '() =>',
  ]
  for (const code of open)
    test(`more is awaited behind ${code}`, () => assert.equal(isComplete(code), false))
  const whole = [
    'f()',
    'a',
    ')',
    '"a',
    "'a",
    'const a: number = 1',
    'if (a) {}',
    'enum A {}',
    '',
    'const = 1',
    '}',
  ]
  for (const code of whole)
    test(`nothing is awaited behind ${code || 'an empty line'}`, () =>
      assert.equal(isComplete(code), true))
})

test('any expression of numbers gives what the language gives', async () => {
  const evaluator = createEvaluator({ scope: { a: 3, b: 4 } })
  const leaf = fc.oneof(fc.integer({ min: 0, max: 9 }).map(String), fc.constantFrom('a', 'b'))
  const { expression } = fc.letrec<{ expression: string }>((tie) => ({
    expression: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc
        .tuple(tie('expression'), fc.constantFrom('+', '-', '*', '<'), tie('expression'))
        .map(([x, o, y]) => `(${x} ${o} ${y})`),
    ),
  }))
  await fc.assert(
    fc.asyncProperty(expression, async (text) => {
      const expected: unknown = new Function('a', 'b', `return ${text}`)(3, 4)
      assert.equal((await evaluator.evaluate(`const value = ${text}\nvalue`)).value, expected)
    }),
    { numRuns: 60 },
  )
})
