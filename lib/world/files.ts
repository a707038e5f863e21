/** A simulated drive: files by path. It keeps no audit log, as a plain file system keeps none. */
import { z } from 'zod'
import type { Step, WorldDefinition } from './world.ts'

const ROOTED = /^\/[^\0]*$/
const file = z.strictObject({
  id: z.union([z.string(), z.number()]),
  path: z.string().regex(ROOTED).describe('From the root, such as /reports/may.txt.'),
  text: z.string().default(''),
  shared_with: z.array(z.string()).default([]).describe('Addresses that may read it.'),
})
const state = z.strictObject({ files: z.array(file).default([]) })
type Drive = z.output<typeof state>

const path = z.string().describe('From the root, such as /reports/may.txt.')
const fail = (error: string): Step<Drive> => ({ reply: { ok: false, error }, isError: true })
const find = (drive: Drive, path: string) => drive.files.find((row) => row.path === path)
const unrooted = (path: string) => fail(`expected a path from the root, got ${path}`)
const gone = (path: string) => fail(`no such file: ${path}`)

export const files: WorldDefinition<Drive> = {
  name: 'files',
  provider: null,
  summary: 'A drive with files by path, which may be shared.',
  state,
  tools: {
    list_files: {
      description: 'List the files below a folder.',
      input: z.strictObject({ folder: z.string().default('/').describe('Such as /reports.') }),
      run(drive, { folder }) {
        const prefix = folder.endsWith('/') ? folder : `${folder}/`
        const found = drive.files.filter((row) => row.path.startsWith(prefix))
        return {
          reply: {
            ok: true,
            files: found.map(({ path, text }) => ({ path, size_bytes: Buffer.byteLength(text) })),
          },
        }
      },
    },
    read_file: {
      description: 'Read a file.',
      input: z.strictObject({ path }),
      run(drive, { path }) {
        const row = find(drive, path)
        return row
          ? { reply: { ok: true, path, text: row.text, shared_with: row.shared_with } }
          : gone(path)
      },
    },
    write_file: {
      description: 'Write a file, over the old one if there is one.',
      input: z.strictObject({ path, text: z.string() }),
      run(drive, { path, text }, clock) {
        if (!ROOTED.test(path)) return unrooted(path)
        const known = find(drive, path)
        const rows = known
          ? drive.files.map((row) => (row === known ? { ...row, text } : row))
          : [...drive.files, { id: clock.nextId(), path, text, shared_with: [] }]
        return {
          state: { files: rows },
          reply: { ok: true, path, size_bytes: Buffer.byteLength(text) },
        }
      },
      effect: ({ path, text }) => ({ op: 'create', table: 'files', where: { path, text } }),
    },
    move_file: {
      description: 'Move a file to a path where there is none.',
      input: z.strictObject({ from: path, to: path }),
      run(drive, { from, to }) {
        const row = find(drive, from)
        if (!row) return gone(from)
        if (!ROOTED.test(to)) return unrooted(to)
        if (find(drive, to)) return fail(`there is a file already: ${to}`)
        const rows = drive.files.map((one) => (one === row ? { ...one, path: to } : one))
        return { state: { files: rows }, reply: { ok: true, path: to } }
      },
      effect: ({ to }) => ({ op: 'update', table: 'files', where: { path: to } }),
    },
    delete_files: {
      description: 'Delete files.',
      input: z.strictObject({ paths: z.array(path).min(1).max(100) }),
      run(drive, { paths }) {
        const missing = paths.find((one: string) => !find(drive, one))
        if (missing !== undefined) return gone(missing)
        return {
          state: { files: drive.files.filter((row) => !paths.includes(row.path)) },
          reply: { ok: true, deleted: paths },
        }
      },
      effect: ({ paths }) => ({
        op: 'delete',
        table: 'files',
        where: {},
        each: [paths].flat().map((one) => ({ path: one })),
      }),
    },
    share_file: {
      description: 'Let somebody read a file.',
      input: z.strictObject({ path, address: z.string().describe('Mail address of the reader.') }),
      run(drive, { path, address }) {
        const row = find(drive, path)
        if (!row) return gone(path)
        const shared_with = [...new Set([...row.shared_with, address])]
        const rows = drive.files.map((one) => (one === row ? { ...one, shared_with } : one))
        return { state: { files: rows }, reply: { ok: true, path, shared_with } }
      },
      effect: ({ path, address }) => ({
        op: 'update',
        table: 'files',
        where: { path, ...(address !== undefined && { shared_with: { contains: address } }) },
      }),
    },
  },
  audit: () => [],
}
