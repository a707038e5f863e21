/**
 * Merkle trees over lines, hashed as Certificate Transparency does: one digest stands for all lines
 * in their order, and a path of about log2(n) digests shows that one line is among them.
 *
 * @see RFC 6962, section 2.1; RFC 9162, section 2.1.3
 */
import { hash } from 'node:crypto'
import type { Digest } from '../../canonical.ts'

/** What is hashed: the kind in the first byte, and what follows. It grows to the longest line. */
let scratch = Buffer.alloc(1 << 12)

/** The hash of a leaf, in hex: of the byte 0 and the line without its line feed. */
export function leafHash(line: Uint8Array): string {
  if (line.length >= scratch.length) scratch = Buffer.alloc(2 * line.length)
  scratch[0] = 0
  scratch.set(line, 1)
  return hash('sha256', scratch.subarray(0, line.length + 1))
}

function nodeHash(left: string, right: string): string {
  scratch[0] = 1
  scratch.write(left, 1, 'hex')
  scratch.write(right, 33, 'hex')
  return hash('sha256', scratch.subarray(0, 65))
}

/** Takes leaves one by one and holds one hash for each level of the tree. */
export class MerkleRoot {
  /** Roots of whole subtrees, the largest first. */
  private readonly roots: { size: number; hash: string }[] = []
  size = 0

  /** @param leaf its hash, in hex */
  add(leaf: string): void {
    this.size++
    let tree = { size: 1, hash: leaf }
    for (let left = this.roots.at(-1); left?.size === tree.size; left = this.roots.at(-1)) {
      this.roots.pop()
      tree = { size: 2 * tree.size, hash: nodeHash(left.hash, tree.hash) }
    }
    this.roots.push(tree)
  }

  /** The root over all leaves so far; of none, the digest of nothing. */
  digest(): Digest {
    const [last, ...before] = this.roots.map((tree) => tree.hash).reverse()
    const root = before.reduce((right, left) => nodeHash(left, right), last ?? hash('sha256', ''))
    return `sha256:${root}`
  }
}

/**
 * The path of a leaf: the roots of the subtrees beside it, from the leaf upwards.
 *
 * @param leaves 32 bytes for each
 */
export function merklePath(leaves: Uint8Array, index: number): Digest[] {
  const hashes = Buffer.from(leaves.buffer, leaves.byteOffset, leaves.length)
  const rootOf = (from: number, to: number): Digest => {
    const tree = new MerkleRoot()
    for (let i = from; i < to; i++) tree.add(hashes.toString('hex', 32 * i, 32 * i + 32))
    return tree.digest()
  }
  const path: Digest[] = []
  let [from, to] = [0, leaves.length / 32]
  while (to - from > 1) {
    // The left subtree is the largest whole one that leaves something for the right.
    const half = from + 2 ** Math.floor(Math.log2(to - from - 1))
    if (index < half) {
      path.push(rootOf(half, to))
      to = half
    } else {
      path.push(rootOf(from, half))
      from = half
    }
  }
  return path.reverse()
}

/**
 * The root that a leaf and its path give; null where a path of that length has no place in a tree
 * of that size.
 *
 * @param leaf its hash, in hex
 */
export function rootOfPath(
  leaf: string,
  index: number,
  size: number,
  path: readonly Digest[],
): Digest | null {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size)) return null
  if (index < 0 || index >= size) return null
  let [at, last] = [index, size - 1]
  let root = leaf
  for (const digest of path) {
    if (last === 0) return null
    const beside = digest.slice('sha256:'.length)
    if (at % 2 === 1 || at === last) {
      root = nodeHash(beside, root)
      while (at % 2 === 0 && at > 0) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
    } else root = nodeHash(root, beside)
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  return last === 0 ? `sha256:${root}` : null
}
