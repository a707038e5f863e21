/**
 * A seeded stream of random numbers, so that every draw in a run, a bootstrap or a simulation can
 * be made again.
 *
 * Generator: xoshiro128** 1.1 (Blackman & Vigna, "Scrambled Linear Pseudorandom Number Generators",
 * ACM TOMS 47(4), 2021), period 2^128 - 1. Its 128 bits of state are the first 16 bytes of SHA-256
 * over the seed's UTF-8 text, read as four little-endian words: near seeds give unrelated streams,
 * and any language can rebuild the state. Not for secrets: the state can be worked out from the
 * output.
 */
import { createHash } from 'node:crypto'
import { TouchstoneError } from '../errors.ts'
import { finite, list, source } from './domain.ts'

/** A source of uniform numbers in [0, 1). */
export type Rng = () => number

/**
 * The four words of state as a stream of unsigned 32-bit words. Exported for its known answers.
 *
 * @example
 * const next = xoshiro128([1, 2, 3, 4])
 * ;[next(), next(), next()] // [11520, 0, 5927040]
 */
export function xoshiro128(state: readonly [number, number, number, number]): () => number {
  let [a, b, c, d] = list(state, 'four words', 'state').map(
    (word, i) => finite(word, `state[${i}]`) | 0,
  ) as [number, number, number, number]
  if ((a | b | c | d) === 0) {
    throw new TouchstoneError(
      'argument_invalid',
      'expected a state that is not all zero, got 0, 0, 0, 0',
      {
        where: 'state',
      },
    )
  }
  return () => {
    const five = Math.imul(b, 5)
    const word = Math.imul((five << 7) | (five >>> 25), 9) >>> 0
    const shifted = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = (d << 11) | (d >>> 21)
    return word
  }
}

/**
 * A seeded generator: the same seed gives the same numbers on every machine.
 *
 * @param seed  any text, or a finite number (the number n and the text `String(n)` are the same
 *   seed)
 * @returns     a function that gives the next number, uniform over the 2^53 multiples of 2^-53 in
 *   [0, 1)
 * @throws      `argument_invalid` when the seed is neither
 * @see         Blackman & Vigna 2021; known answers: fixtures/stats/random.json
 * @example
 * const draw = rng('example')
 * draw() // 0.4622
 * rng(7)() === rng('7')() // true
 * rng(NaN) // throws argument_invalid
 */
export function rng(seed: number | string): Rng {
  if (typeof seed !== 'string' && !Number.isFinite(seed)) {
    throw new TouchstoneError(
      'argument_invalid',
      `expected a text or a finite number, got ${typeof seed === 'number' ? seed : typeof seed}`,
      {
        where: 'seed',
      },
    )
  }
  const hash = createHash('sha256').update(String(seed), 'utf8').digest()
  const next = xoshiro128([
    hash.readInt32LE(0),
    hash.readInt32LE(4),
    hash.readInt32LE(8),
    hash.readInt32LE(12),
  ])
  return () => ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992
}

/**
 * The same things in a random order (Fisher and Yates). The argument is left as it is.
 *
 * @example
 * shuffle(['a', 'b', 'c', 'd'], rng(1)).length // 4
 */
export function shuffle<T>(items: readonly T[], random: Rng): T[] {
  const out = [...list(items, 'things', 'items')]
  source(random, 'random')
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    const held = out[i] as T
    out[i] = out[j] as T
    out[j] = held
  }
  return out
}
