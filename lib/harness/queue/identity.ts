/** Who a process is that takes part in a run over a queue, and what keeps it from taking part. */
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Digest } from '../../canonical.ts'
import { place } from '../../lock-owner.ts'

export type Identity = {
  /** Once per process. */
  id: string
  host: string
  /** Tells machines of one name apart; null where the system has none. */
  boot_id: string | null
  pid: number
  pid_namespace: string | null
  /** Of what a trial's end may depend on, as in the manifest. */
  versions: { [name: string]: string }
  /** Over the code of this package. */
  code: Digest
  /** Over the project's package-lock.json; null where there is none. */
  lock: Digest | null
}

export function identity(versions: Identity['versions']): Identity {
  const host = hostname()
  const { boot, space } = place()
  const name = host.replace(/[^A-Za-z0-9_.-]/g, '-').slice(0, 40)
  return {
    id: `${name}-${process.pid}-${randomBytes(3).toString('hex')}`,
    host,
    boot_id: boot,
    pid: process.pid,
    pid_namespace: space,
    versions,
    code: codeDigest(),
    lock: lockDigest(),
  }
}

/**
 * In which words a worker is another than the run needs. Another patch of Node is recorded and lets
 * it take part; another major version does not. A lock that one of both does not have is not known
 * to be another.
 */
export function differences(
  run: Pick<Identity, 'versions' | 'code' | 'lock'>,
  worker: Pick<Identity, 'versions' | 'code' | 'lock'>,
): string[] {
  const found: string[] = []
  for (const [name, version] of Object.entries(run.versions)) {
    const mine = worker.versions[name] ?? 'none'
    const same = name === 'node' ? mine.split('.')[0] === version.split('.')[0] : mine === version
    if (!same) found.push(`version of ${name} is ${mine}, the run has ${version}`)
  }
  if (run.code !== worker.code)
    found.push(`code of touchstone is ${short(worker.code)}, the run has ${short(run.code)}`)
  if (run.lock !== null && worker.lock !== null && run.lock !== worker.lock)
    found.push(`package-lock.json is ${short(worker.lock)}, the run has ${short(run.lock)}`)
  return found
}

function short(digest: Digest): string {
  return digest.slice(0, 19)
}

/** Over every file of the library as it runs here, name by name. */
function codeDigest(): Digest {
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const hash = createHash('sha256')
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:ts|js|json)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  for (const file of files) {
    const bytes = readFileSync(file)
    hash.update(`${file.slice(root.length)}\0${bytes.length}\0`).update(bytes)
  }
  return `sha256:${hash.digest('hex')}`
}

/** The nearest package-lock.json above the working folder. */
function lockDigest(): Digest | null {
  for (let at = process.cwd(); ; at = dirname(at)) {
    const path = join(at, 'package-lock.json')
    if (existsSync(path))
      return `sha256:${createHash('sha256').update(readFileSync(path)).digest('hex')}`
    if (dirname(at) === at) return null
  }
}
