/** Servers of a queue for tests: Redis and PostgreSQL as they are installed, on ports and in folders of their own, killed and started again. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { createConnection } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { temporaryFolder } from '../temporary.ts'
import { freePort } from './port.ts'

export type QueueServer = {
  url: string
  /** What only a person with a client does: `FLUSHALL`, or `DROP`. */
  wipe(): void
  /** Bytes that the server's processes hold, or null. */
  memoryBytes(): number | null
  /** SIGKILL, as the kernel does when memory is short. */
  kill(): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

export const ENGINES = ['redis', 'postgres'] as const
export type EngineName = (typeof ENGINES)[number]

const inPath = (program: string) =>
  (process.env['PATH'] ?? '')
    .split(':')
    .map((folder) => join(folder, program))
    .find(existsSync)
const postgresFolder = () =>
  globSync('/usr/lib/postgresql/*/bin/initdb')
    .sort()
    .at(-1)
    ?.replace(/\/initdb$/, '') ?? inPath('initdb')?.replace(/\/initdb$/, '')

/** Why an engine cannot be tested here; false where it can. For a test's `skip`. */
export function missing(engine: EngineName): string | false {
  if (engine === 'redis') return inPath('redis-server') ? false : 'redis-server is not installed'
  if (!postgresFolder()) return 'postgresql is not installed'
  return process.getuid?.() === 0 && !inPath('setpriv')
    ? 'postgres does not run as root, and setpriv is not installed'
    : false
}

/** @param options.durable false: as fast as it goes, for what is not killed */
export async function startQueueServer(
  engine: EngineName,
  options: { durable?: boolean } = {},
): Promise<QueueServer> {
  const port = await freePort()
  const server = engine === 'redis' ? redis(port, options) : postgres(port, options)
  await server.start()
  return server
}

/** The command that runs one thing on the server, and the server itself as a process. */
function held(
  port: number,
  dir: string,
  parts: {
    url: string
    command: string[]
    wipe: string[]
    ready(): boolean
    as?: { uid: number; gid: number } | undefined
  },
): QueueServer {
  let child: ReturnType<typeof spawn> | null = null
  const ended = (one: NonNullable<typeof child>) =>
    new Promise<void>((resolve) => {
      if (one.exitCode !== null || one.signalCode !== null) resolve()
      else one.once('exit', () => resolve())
    })
  const kill = async () => {
    if (!child) return
    const [dying] = [child]
    child = null
    dying.ref()
    const group = childrenOf(dying.pid as number)
    dying.kill('SIGKILL')
    await ended(dying)
    // Processes of a database outlive the first of them for a moment.
    while (group.some((pid) => existsSync(`/proc/${pid}`))) await sleep(20)
  }
  return {
    url: parts.url,
    wipe: () => {
      const [program = '', ...args] = parts.wipe
      execFileSync(program, args, { stdio: 'pipe' })
    },
    memoryBytes() {
      if (!child?.pid) return null
      const pids = [child.pid, ...childrenOf(child.pid)]
      return pids.reduce((sum, pid) => sum + heldBytes(pid), 0)
    },
    kill,
    async start() {
      const [program = '', ...args] = parts.command
      const started = spawn(program, args, { stdio: 'ignore', cwd: dir, ...(parts.as ?? {}) })
      child = started
      // A test that fails before it closes the server ends, and the server with it.
      started.unref()
      process.once('exit', () => started.kill('SIGKILL'))
      while (!(await answers(port)) || !parts.ready()) {
        if (started.exitCode !== null)
          throw new Error(`${program} on port ${port} ended with ${started.exitCode}`)
        await sleep(50)
      }
    },
    async close() {
      await kill()
    },
  }
}

function redis(port: number, { durable = true }: { durable?: boolean }): QueueServer {
  const dir = temporaryFolder('redis')
  const kept = durable ? ['--appendonly', 'yes', '--appendfsync', 'always'] : []
  return held(port, dir, {
    url: `redis://127.0.0.1:${port}`,
    command: [
      'redis-server',
      ...['--port', `${port}`, '--bind', '127.0.0.1', '--dir', dir, '--save', ''],
      ...['--maxmemory-policy', 'noeviction', ...kept],
    ],
    wipe: ['redis-cli', '-p', `${port}`, 'FLUSHALL'],
    ready: () =>
      spawnSync('redis-cli', ['-p', `${port}`, 'PING'], { encoding: 'utf8' }).stdout.trim() ===
      'PONG',
  })
}

function postgres(port: number, { durable = true }: { durable?: boolean }): QueueServer {
  const bin = postgresFolder() as string
  const dir = temporaryFolder('postgres')
  const root = process.getuid?.() === 0
  const numberOf = (flag: string) =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  const as = root ? { uid: numberOf('-u'), gid: numberOf('-g') } : undefined
  if (as) {
    requireOpen(dirname(dir))
    chownSync(dir, as.uid, as.gid)
  }
  chmodSync(dir, 0o700)
  const data = join(dir, 'data')
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'touchstone', '-A', 'trust', '--no-sync', '--locale=C', '-E', 'UTF8'],
    { stdio: 'pipe', cwd: dir, ...(as ?? {}) },
  )
  const psql = ['-h', '127.0.0.1', '-p', `${port}`, '-U', 'touchstone', '-d', 'postgres', '-c']
  const fast = durable ? [] : ['-c', 'fsync=off', '-c', 'synchronous_commit=off']
  return held(port, dir, {
    url: `postgres://touchstone@127.0.0.1:${port}/postgres`,
    command: [
      join(bin, 'postgres'),
      ...['-D', data, '-p', `${port}`, '-h', '127.0.0.1', '-k', dir, ...fast],
    ],
    wipe: [join(bin, 'psql'), ...psql, `DO $$ BEGIN ${EMPTIED.map(emptied).join(' ')} END $$`],
    ready: () =>
      spawnSync(join(bin, 'psql'), [...psql, 'SELECT 1'], { stdio: 'ignore' }).status === 0,
    as,
  })
}

/** The server runs as a user of its own, who must reach the folder that it is given. */
function requireOpen(folder: string): void {
  const { mode } = statSync(folder)
  if ((mode & 0o001) === 0)
    throw new Error(
      `expected a folder of temporary files that the user postgres can enter, got ${folder} (mode ${(mode & 0o777).toString(8)}; TMPDIR)`,
    )
  if (folder !== dirname(folder)) requireOpen(dirname(folder))
}

const EMPTIED = ['bullmq.job', 'touchstone.pace']
const emptied = (table: string) =>
  `IF to_regclass('${table}') IS NOT NULL THEN DELETE FROM ${table}; END IF;`

function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', `${pid}`], { encoding: 'utf8' })
  return stdout.split(/\s+/).filter(Boolean).map(Number)
}

/** What a process holds alone, and its share of what several hold: a database's processes share most. */
function heldBytes(pid: number): number {
  const path = `/proc/${pid}/smaps_rollup`
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
