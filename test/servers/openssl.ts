/** Signatures held against openssl. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../temporary.ts'

/** Why openssl cannot be asked here, if it cannot. */
export const withoutOpenssl: string | false =
  spawnSync('openssl', ['version']).status === 0 ? false : 'openssl is not installed'

/** Fails unless openssl says that this key signed these bytes. */
export function opensslVerifies(publicKey: string, signature: Buffer, signed: Uint8Array): void {
  const folder = temporaryFolder('openssl')
  for (const [name, content] of Object.entries({ signed, sig: signature, pub: publicKey }))
    writeFileSync(join(folder, name), content)
  const command = 'pkeyutl -verify -pubin -inkey pub -rawin -in signed -sigfile sig'
  const made = spawnSync('openssl', command.split(' '), { cwd: folder, encoding: 'utf8' })
  assert.equal(made.status, 0, made.stderr)
  assert.match(made.stdout, /Signature Verified Successfully/)
}
