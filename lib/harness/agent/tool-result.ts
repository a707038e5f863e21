/**
 * A tool's result as a model reads it: everything that MCP allows in one, as text or, where the
 * model takes them, as files.
 */
import type { ToolSet } from 'ai'
import type { CallToolResult } from '../wire/mcp.ts'

type ModelOutput = Awaited<ReturnType<NonNullable<ToolSet[string]['toModelOutput']>>>
type Part = NonNullable<CallToolResult['content']>[number]

/** Providers whose packages hand images and audio in a tool's result on to the model. */
const TAKES_FILES = /^(anthropic|google|openai\.responses|amazon-bedrock)/

/** True for a model that is shown the images and audio of a tool's result. */
export function takesFiles(model: unknown): boolean {
  const { provider } = (model ?? {}) as { provider?: unknown }
  return typeof provider === 'string' && TAKES_FILES.test(provider)
}

/** The text of a result. What is no text is told by its kind, type and size. */
export function textOf({ content = [], structuredContent }: CallToolResult): string {
  // Servers of today send structured content with its text beside it; alone it is all that there
  // is.
  if (content.length === 0 && structuredContent !== undefined)
    return JSON.stringify(structuredContent)
  return content.map(textOfPart).join('\n')
}

/** A result for the AI SDK. `files`: the model takes images and audio. */
export function modelOutput(result: CallToolResult, files: boolean): ModelOutput {
  const held = (result.content ?? []).some((part) => fileOf(part) !== null)
  if (!files || !held || result.isError)
    return { type: result.isError ? 'error-text' : 'text', value: textOf(result) }
  const value = (result.content ?? []).map((part) => {
    const file = fileOf(part)
    return file === null
      ? { type: 'text' as const, text: textOfPart(part) }
      : {
          type: 'file' as const,
          mediaType: file.mediaType,
          data: { type: 'data' as const, data: file.data },
        }
  })
  return { type: 'content', value }
}

function textOfPart(part: Part): string {
  switch (part.type) {
    case 'text':
      return part.text
    case 'resource': {
      const { uri, mimeType } = part.resource
      const head = `[resource ${uri}${mimeType ? `, ${mimeType}` : ''}]`
      return 'text' in part.resource
        ? `${head}\n${part.resource.text}`
        : `${head} (${sizeOf(part.resource.blob)} bytes)`
    }
    case 'resource_link':
      return `[link ${part.uri}] ${[part.title ?? part.name, part.description].filter(Boolean).join(': ')}`
    case 'image':
    case 'audio':
      return `[${part.type} ${part.mimeType}, ${sizeOf(part.data)} bytes]`
  }
}

/** What a part holds that is no text. */
function fileOf(part: Part): { mediaType: string; data: string } | null {
  if (part.type === 'image' || part.type === 'audio')
    return { mediaType: part.mimeType, data: part.data }
  if (part.type === 'resource' && 'blob' in part.resource)
    return {
      mediaType: part.resource.mimeType ?? 'application/octet-stream',
      data: part.resource.blob,
    }
  return null
}

/** Bytes of a base64 text. */
function sizeOf(base64: string): number {
  return Buffer.byteLength(base64, 'base64')
}
