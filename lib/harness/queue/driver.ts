/** Which server a queue's address means, and the packages that speak to it. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { TouchstoneError } from '../../errors.ts'
import { keepSecret, shownAddress } from '../../secrets.ts'

export type EngineKind = 'redis' | 'postgres'

/** @throws TouchstoneError `argument_invalid` for another kind of address */
export function kindOf(url: string): EngineKind {
  const scheme = URL.canParse(url) ? new URL(url).protocol : ''
  if (/^rediss?:$/.test(scheme) || /^postgres(ql)?:$/.test(scheme)) {
    const { password } = new URL(url)
    if (password !== '') keepSecret(decodeURIComponent(password))
    return scheme.startsWith('redis') ? 'redis' : 'postgres'
  }
  throw new TouchstoneError(
    'argument_invalid',
    `expected redis://…, rediss://… or postgres://…, got ${JSON.stringify(shownAddress(url)).slice(0, 80)}`,
    { where: 'queue' },
  )
}

/**
 * A package of a queue: BullMQ, or the driver of its server. They stand beside this one, or in the
 * project that is worked in.
 *
 * @throws TouchstoneError `dependency_missing`
 */
export function packageOf(kind: EngineKind, name: 'bullmq' | 'ioredis' | 'pg'): unknown {
  const driver = kind === 'redis' ? 'ioredis' : 'pg'
  for (const from of [import.meta.url, join(process.cwd(), 'from-here.js')]) {
    const require = createRequire(from)
    try {
      require.resolve(driver)
      return require(name)
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw cause
    }
  }
  throw new TouchstoneError(
    'dependency_missing',
    `expected the packages bullmq and ${driver} for a queue, got none: npm install bullmq ${driver}`,
    { where: 'queue' },
  )
}
