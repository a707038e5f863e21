/**
 * What a receipt commits to of a file of lines, gathered while the file is read once: the digest of
 * its bytes, and the root of the Merkle tree over its lines.
 */
import { createHash } from 'node:crypto'
import type { Digest } from '../../canonical.ts'
import { leafHash, MerkleRoot } from '../seal/merkle.ts'

const NEWLINE = 10

/** A Merkle tree (RFC 6962) over lines, their line feeds apart. Empty lines are in none. */
export type Tree = { lines: number; root: Digest }

export class Commitment {
  private readonly file = createHash('sha256')
  private readonly leaves = new MerkleRoot()

  /** Told of all bytes of the file, in their order. */
  readonly seen = (bytes: Uint8Array): void => {
    this.file.update(bytes)
  }

  /** Take lines, each but the last with its line feed. @returns the hashes of their leaves */
  add(lines: Buffer): void {
    for (let from = 0; from < lines.length; ) {
      const found = lines.indexOf(NEWLINE, from)
      const end = found < 0 ? lines.length : found
      if (end > from) this.leaves.add(leafHash(lines.subarray(from, end)))
      from = end + 1
    }
  }

  tree(): Tree {
    return { lines: this.leaves.size, root: this.leaves.digest() }
  }

  digest(): Digest {
    return `sha256:${this.file.digest('hex')}`
  }
}
