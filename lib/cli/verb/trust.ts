/**
 * Consent to what case files do. A case that starts a command, contacts an address or uses a
 * variable of the environment is listed and asked about once; the answer is kept by its digest.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { count, foreign } from '../../display.ts'
import { TouchstoneError } from '../../errors.ts'
import { writing } from '../../files.ts'
import type { Case } from '../../harness/case/case.ts'
import * as cases from '../../harness/case/cases.ts'
import { type CasePower, powersOf } from '../../harness/case/powers.ts'

type Asking = {
  /** The person said so on the command line. */
  trust: boolean
  /** Asks and resolves to the answer; null where nobody can be asked. */
  ask: ((question: string) => Promise<string>) | null
}

const SAYS: { [kind in CasePower['kind']]: string } = {
  command: 'starts',
  address: 'contacts',
  variable: 'uses the variable',
}

/** Cases that are listed before the rest is only counted. */
const SHOWN = 20

/**
 * Let cases run that are trusted, and ask about the others.
 *
 * @throws TouchstoneError `case_untrusted` naming what they would do, when nobody says yes
 */
export async function requireTrusted(
  loaded: readonly Case[],
  { trust, ask }: Asking,
): Promise<void> {
  const able = loaded.filter((test) => powersOf(test).length > 0)
  if (able.length === 0 || trust) return
  const shipped = new Set((await cases.load()).map(({ digest }) => digest))
  const unknown = able.filter(({ digest }) => !shipped.has(digest) && !existsSync(pathOf(digest)))
  if (unknown.length === 0) return
  const listed = unknown.slice(0, SHOWN).map(saidOf)
  if (unknown.length > SHOWN) listed.push(`and ${unknown.length - SHOWN} more`)
  const what = `${count(unknown.length, 'case')} would do this on your machine:\n${listed.join('\n')}\n`
  const answer = ask === null ? '' : await ask(`${what}Run them? [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) {
    const got = ask === null ? 'nobody to ask' : 'no'
    throw new TouchstoneError('case_untrusted', `expected --trust, since ${what}got ${got}`)
  }
  for (const test of unknown) keep(test)
}

function saidOf(test: Case): string {
  const does = powersOf(test).map(({ kind, text }) => `    ${SAYS[kind]} ${foreign(text, 300)}`)
  return [`  ${foreign(test.id)}`, ...does].join('\n')
}

function pathOf(digest: Case['digest']): string {
  const data = process.env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share')
  return join(data, 'touchstone', 'trusted', digest.replace(':', '-'))
}

function keep(test: Case): void {
  const path = pathOf(test.digest)
  writing(path, () => {
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, `${saidOf(test)}\n`)
  })
}

/** Asks on the terminal, where there is one. */
export function asker(): Asking['ask'] {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return null
  return async (question) => {
    const { createInterface } = await import('node:readline/promises')
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    try {
      return await lines.question(question)
    } finally {
      lines.close()
    }
  }
}
