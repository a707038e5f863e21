/** Folders among the temporary files. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pageFolder } from '../../lib/process/temporary.ts'
import { temporaryFolder } from '../temporary.ts'

describe('the folder of a page', () => {
  const DAY_MS = 86_400_000
  const given = process.env['TMPDIR']
  const here = temporaryFolder('pages')
  before(() => {
    process.env['TMPDIR'] = here
  })
  after(() => {
    if (given === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = given
  })

  it('stays for a day, and goes when another one is made after that', () => {
    const first = pageFolder()
    writeFileSync(join(first, 'report.html'), '')
    const made = Date.now()
    pageFolder(made + DAY_MS - 60_000)
    assert.ok(existsSync(first))
    const last = pageFolder(made + DAY_MS + 60_000)
    assert.deepEqual([existsSync(first), existsSync(last)], [false, true])
  })

  it('is refused by name where none can be made', () => {
    process.env['TMPDIR'] = join(here, 'none')
    assert.throws(() => pageFolder(), {
      code: 'file_unwritable',
      message: /temporary files can be written to, got ENOENT; TMPDIR names another \(.*none\)$/,
    })
    process.env['TMPDIR'] = here
  })

  it('takes nothing along that is not a page of the same user', () => {
    const others = ['touchstone-page-x', 'page-abcdef', 'touchstone-page-abcdefg'].map((name) => {
      mkdirSync(join(here, name))
      return join(here, name)
    })
    const kept = join(here, 'touchstone-page-report')
    mkdirSync(join(kept, 'precious'), { recursive: true })
    others.push(kept)
    const file = join(here, 'touchstone-page-111111')
    writeFileSync(file, '')
    const target = temporaryFolder('pages')
    const linked = join(here, 'touchstone-page-222222')
    symlinkSync(target, linked)
    for (const path of [...others, file]) utimesSync(path, 0, 0)
    pageFolder(Date.now() + 9 * DAY_MS)
    for (const path of [...others, file, linked, target]) assert.ok(existsSync(path), path)
  })
})
