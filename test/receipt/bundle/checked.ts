/** What the verifier says of a bundle, in a word. */
import assert from 'node:assert/strict'
import { receipt } from '../../../lib/index.ts'
import { bundle, V0 } from './made.ts'

type Options = Parameters<typeof receipt.verifyBundle>[1]
export type Limits = NonNullable<Options['limits']>

export const check = (bytes: string | Uint8Array, limits?: Limits) =>
  receipt.verifyBundle(bytes, { profile: V0, ...(limits && { limits }) })

/** `pass`, or the one reason why not. */
export async function integrity(bytes: string | Uint8Array, limits?: Limits): Promise<string> {
  const report = await check(bytes, limits)
  assert.equal(report.bundle_integrity, report.verdict === undefined ? 'fail' : 'pass')
  if (report.verdict !== undefined) return 'pass'
  assert.equal(report.findings.length, 1)
  assert.equal(report.claims, undefined)
  return report.findings[0]?.code as string
}

/** `valid`, or the codes of all violations. The bundle of these payloads has to be whole. */
export async function codes(payloads: unknown[], profile: receipt.Profile = V0): Promise<string[]> {
  const report = await receipt.verifyBundle(bundle({ payloads }), { profile })
  assert.equal(report.bundle_integrity, 'pass')
  assert.equal(report.verdict === 'valid', report.claims !== undefined)
  return report.verdict === 'valid' ? ['valid'] : report.findings.map(({ code }) => code)
}
