/** The heavy part of a page: details of trials, compressed, in the page or in files beside it. */

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Json } from '../../json.ts'
import type { Details } from './shape.ts'

const packed = promisify(gzip)

/** Trials of one part: what opens together. */
const PER_PART = 40
/** Parts of at most this size in all stand in the page itself. */
const MOST_INSIDE_BYTES = 3_500_000

/** JSON, compressed, as text that is safe in any element. */
export async function pack(value: Json | object): Promise<string> {
  return (await packed(JSON.stringify(value), { level: 6 })).toString('base64')
}

export type Parts = {
  /** The part of each trial, by key. */
  places: Map<string, number>
  /** Packed parts. Empty where `write` took them. */
  inside: string[]
  count: number
}

/**
 * Pack the details of trials.
 *
 * @param write     takes a part that does not stand in the page. null: all stand in it, whatever
 *   their size
 * @param mostBytes parts of more bytes than that in all do not stand in the page
 */
export async function partsOf(
  details: AsyncIterable<Details>,
  write: ((part: number, text: string) => void) | null,
  mostBytes = MOST_INSIDE_BYTES,
): Promise<Parts> {
  const places = new Map<string, number>()
  let inside: string[] = []
  let bytes = 0
  let out = false
  let count = 0
  let held: Details[] = []
  const flush = async () => {
    if (held.length === 0) return
    const text = await pack(held)
    held = []
    bytes += text.length
    count++
    if (write && !out && bytes > mostBytes) {
      out = true
      for (const [i, one] of inside.entries()) write(i, one)
      inside = []
    }
    if (out && write) write(count - 1, text)
    else inside.push(text)
  }
  for await (const one of details) {
    places.set(one.key, count)
    held.push(one)
    if (held.length >= PER_PART) await flush()
  }
  await flush()
  return { places, inside, count }
}
