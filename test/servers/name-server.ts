/** A DNS server of a few lines: answers A and AAAA questions over UDP from a function, time to live 0. */
import { createSocket } from 'node:dgram'
import { isIPv4 } from 'node:net'

export type Answers = {
  /** Addresses as text; both families, the server sorts them out. */
  addresses?: string[]
  /** The name is an alias of this one, which has the addresses. */
  alias?: string
  /** 0 no error, 2 server failure, 3 no such name. */
  code?: 0 | 2 | 3
}

/**
 * Start answering.
 *
 * @param answer gets the name, the kind of question and how often this name was asked for this kind, from 0
 */
export async function nameServer(
  address: string,
  port: number,
  answer: (name: string, kind: 'A' | 'AAAA', asked: number) => Answers,
): Promise<{ questions: string[]; close(): void }> {
  const questions: string[] = []
  const asked = new Map<string, number>()
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, end } = readName(query)
    const type = query.readUInt16BE(end)
    const kind = type === 28 ? 'AAAA' : 'A'
    const question = `${kind} ${name}`
    questions.push(question)
    const times = asked.get(question) ?? 0
    asked.set(question, times + 1)
    const {
      addresses = [],
      alias,
      code = 0,
    } = type === 1 || type === 28 ? answer(name, kind, times) : {}
    const owner = alias ? nameBytes(alias) : Buffer.from([0xc0, 12])
    const records = addresses
      .filter((each) => isIPv4(each) === (kind === 'A'))
      .map((each) => record(owner, type, addressBytes(each)))
    if (alias) records.unshift(record(Buffer.from([0xc0, 12]), 5, nameBytes(alias)))
    const head = Buffer.alloc(12)
    query.copy(head, 0, 0, 2)
    head.writeUInt16BE(0x8180 | code, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(records.length, 6)
    socket.send(
      Buffer.concat([head, query.subarray(12, end + 4), ...records]),
      from.port,
      from.address,
    )
  })
  await new Promise<void>((resolve) => socket.bind(port, address, resolve))
  return { questions, close: () => socket.close() }
}

function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([owner, fixed, data])
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

function nameBytes(name: string): Buffer {
  return Buffer.concat([
    ...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.alloc(1),
  ])
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail = ''] = (
    URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1) ?? ''
  ).split('::')
  const left = head ? head.split(':') : []
  const right = tail ? tail.split(':') : []
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right]
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
