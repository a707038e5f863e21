/**
 * What the files for other programs say of a run that ended with exit code 2: a runner that keeps
 * its folders would read those of an earlier run.
 */
import { appendFileSync, existsSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { foreign } from '../../display.ts'
import { printable, TouchstoneError } from '../../errors.ts'
import { makeFolder, readJson, readText, replaceFile } from '../../files.ts'
import { isJunit, refusedJunit } from '../../harness/report/ci/junit.ts'
import type { Verb } from './verb.ts'

/**
 * JUnit and the summary say why; SARIF without a run would say that no attack succeeded, so that
 * there is none. A file that is not one of ours is left as it is, and so is what cannot be written.
 *
 * @param args the words as they came: they may be what is wrong
 */
export function writeRefused(args: string[], options: Verb['options'], error: unknown): void {
  const [code, message] =
    error instanceof TouchstoneError
      ? [error.code, error.message]
      : ['error', printable(error instanceof Error ? error.message : String(error))]
  const known = Object.entries(options).map(([name, { type, short }]) => [
    name,
    { type, ...(short && { short }) },
  ])
  const { values } = parseArgs({
    args,
    options: Object.fromEntries(known),
    allowPositionals: true,
    strict: false,
  })
  if (values['dry-run']) return
  const write = {
    junit: (path: string) => {
      const there = existsSync(path) ? readText(path) : ''
      if (there !== '' && !isJunit(there)) return
      makeFolder(dirname(path))
      replaceFile(path, refusedJunit(code, message))
    },
    sarif: (path: string) => {
      if (existsSync(path) && isSarif(readJson(path))) rmSync(path)
    },
    summary: (path: string) =>
      appendFileSync(path, `## Touchstone: no run\n\n${code}: ${foreign(message, 1000)}\n`),
  }
  for (const [name, made] of Object.entries(write)) {
    const path = values[name]
    if (typeof path !== 'string') continue
    try {
      made(path)
    } catch {
      // What is told is why there is no run.
    }
  }
}

/** Is this what `sarif` writes? */
function isSarif(log: unknown): boolean {
  const { runs } = log as { runs?: { tool?: { driver?: { name?: unknown } } }[] }
  return runs?.[0]?.tool?.driver?.name === 'touchstone'
}
