/** Merkle trees are those of Certificate Transparency: roots and paths are known from another implementation. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { leafHash, MerkleRoot, merklePath, rootOfPath } from '../../../lib/receipt/seal/merkle.ts'
import fc from '../../property.ts'

type Row = { id: string; input: { size: number; index?: number }; expected: string | string[] }

const known = JSON.parse(
  readFileSync(new URL('../../../fixtures/receipt/merkle.json', import.meta.url), 'utf8'),
) as { leaves: string[]; rows: Row[] }
const hashes = known.leaves.map((hex) => leafHash(Buffer.from(hex, 'hex')))

const together = (leaves: readonly string[]) => Buffer.from(leaves.join(''), 'hex')

function rootOf(leaves: readonly string[]) {
  const tree = new MerkleRoot()
  for (const leaf of leaves) tree.add(leaf)
  return tree.digest()
}

describe('a Merkle tree over lines', () => {
  it('has the roots and paths that transparency-dev/merkle gives', () => {
    for (const { id, input, expected } of known.rows) {
      const leaves = hashes.slice(0, input.size)
      if (typeof expected === 'string') assert.equal(rootOf(leaves), `sha256:${expected}`, id)
      else {
        const { index = 0 } = input
        const path = merklePath(together(leaves), index)
        assert.deepEqual(
          path,
          expected.map((hex) => `sha256:${hex}`),
          id,
        )
        assert.equal(rootOfPath(hashes[index] as string, index, input.size, path), rootOf(leaves))
      }
    }
  })

  it('shows a leaf at its place alone: another leaf, place, size or path gives another root or none', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 70 }), fc.nat(), fc.nat(), (size, a, b) => {
        const leaves = Array.from({ length: size }, (_, i) => leafHash(Buffer.from(`${i}`)))
        const root = rootOf(leaves)
        const index = a % size
        const other = (index + 1 + (b % (size - 1))) % size
        const leaf = leaves[index] as string
        const path = merklePath(together(leaves), index)
        assert.equal(rootOfPath(leaf, index, size, path), root)
        assert.notEqual(rootOfPath(leaves[other] as string, index, size, path), root)
        assert.notEqual(rootOfPath(leaf, other, size, path), root)
        assert.notEqual(rootOfPath(leaf, index, size, path.slice(1)), root)
        assert.notEqual(rootOfPath(leaf, index, size, [...path, root]), root)
        if (path.length > 1 && path[0] !== path[1])
          assert.notEqual(rootOfPath(leaf, index, size, path.toReversed()), root)
        for (const [at, of] of [
          [-1, size],
          [size, size],
          [0.5, size],
          [index, Number.NaN],
        ] as const)
          assert.equal(rootOfPath(leaf, at, of, path), null)
      }),
    )
  })

  it('takes no inner node for a leaf', () => {
    const [a, b] = [leafHash(Buffer.from('a')), leafHash(Buffer.from('b'))]
    assert.notEqual(rootOf([a, b]), rootOf([leafHash(together([a, b]))]))
  })
})
