/**
 * Messages of the Jupyter protocol (5.3) as frames: identities, a delimiter, a signature, four JSON
 * texts.
 */
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'

export type Header = {
  msg_id: string
  msg_type: string
  session: string
  username: string
  date: string
  version: string
}

export type Message = {
  identities: Buffer[]
  header: Header
  parent: Header | Record<string, never>
  content: Record<string, unknown>
}

const DELIMITER = '<IDS|MSG>'

/** The signature of four texts; empty when the connection has no key. */
function sign(key: string, parts: readonly (Buffer | string)[]): string {
  if (key === '') return ''
  const mac = createHmac('sha256', key)
  for (const part of parts) mac.update(part)
  return mac.digest('hex')
}

/**
 * Read a message. Undefined for frames that are no message or whose signature does not fit: they
 * are not answered.
 */
export function readMessage(frames: readonly Buffer[], key: string): Message | undefined {
  const at = frames.findIndex((frame) => frame.toString('latin1') === DELIMITER)
  const [signature, header, parent, metadata, content] = frames.slice(at + 1)
  if (at < 0 || !signature || !header || !parent || !metadata || !content) return undefined
  const expected = Buffer.from(sign(key, [header, parent, metadata, content]))
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected))
    return undefined
  try {
    return {
      identities: frames.slice(0, at) as Buffer[],
      header: JSON.parse(header.toString()) as Header,
      parent: JSON.parse(parent.toString()) as Header,
      content: JSON.parse(content.toString()) as Record<string, unknown>,
    }
  } catch {
    return undefined
  }
}

/** Write a message as frames. `parent` is the request it belongs to. */
export function writeMessage(
  type: string,
  content: Record<string, unknown>,
  parent: Message | undefined,
  options: { key: string; session: string; identities?: readonly Buffer[] },
): (Buffer | string)[] {
  const header: Header = {
    msg_id: randomUUID(),
    msg_type: type,
    session: options.session,
    username: 'kernel',
    date: new Date().toISOString(),
    version: '5.3',
  }
  const parts = [header, parent?.header ?? {}, {}, content].map((part) => JSON.stringify(part))
  return [...(options.identities ?? []), DELIMITER, sign(options.key, parts), ...parts]
}

/** Jupyter counts cursors in code points, JavaScript in UTF-16 units. */
export function unitsOf(text: string, points: number): number {
  return [...text].slice(0, points).join('').length
}

export function pointsOf(text: string, units: number): number {
  return [...text.slice(0, units)].length
}
