/**
 * The Markdown of a notebook's prose as HTML: headings, paragraphs, lists, tables, quotes, code, emphasis and links.
 *
 * Everything is escaped first; tags in prose are shown, not obeyed.
 */
import { escapeMarkup } from '../display.ts'

/** @example proseHtml('# A *title*') // '<h1>A <em>title</em></h1>' */
export function proseHtml(markdown: string): string {
  const lines = markdown.split('\n')
  const out: string[] = []
  let at = 0
  const take = (fits: (line: string) => boolean): string[] => {
    const start = at
    while (at < lines.length && fits(lines[at]!)) at++
    return lines.slice(start, at)
  }
  while (at < lines.length) {
    const line = lines[at]!
    const heading = /^(#{1,6})\s+(.*)$/.exec(line)
    const fence = /^(`{3,})/.exec(line)?.[1]
    if (line.trim() === '') at++
    else if (heading) {
      const level = heading[1]!.length
      out.push(`<h${level}>${inline(heading[2]!)}</h${level}>`)
      at++
    } else if (fence) {
      at++
      out.push(`<pre>${escapeMarkup(take((one) => !one.startsWith(fence)).join('\n'))}</pre>`)
      at++
    } else if (/^\s*[-*]\s/.test(line)) out.push(list('ul', items(take(inList), /^\s*[-*]\s+/)))
    else if (/^\s*\d+[.)]\s/.test(line)) out.push(list('ol', items(take(inList), /^\s*\d+[.)]\s+/)))
    else if (line.startsWith('|') && /^\|[\s:|-]+\|?$/.test(lines[at + 1] ?? ''))
      out.push(table(take((one) => one.startsWith('|'))))
    else if (line.startsWith('>')) {
      out.push(
        `<blockquote>${proseHtml(
          take((one) => one.startsWith('>'))
            .map((one) => one.replace(/^>\s?/, ''))
            .join('\n'),
        )}</blockquote>`,
      )
    } else {
      const paragraph = take((one) => one.trim() !== '' && !/^(#{1,6}\s|`{3}|>|\|)/.test(one))
      if (paragraph.length === 0) paragraph.push(lines[at++]!)
      out.push(`<p>${inline(paragraph.join('\n'))}</p>`)
    }
  }
  return out.join('\n')
}

function inList(line: string): boolean {
  return /^\s*([-*]|\d+[.)])\s/.test(line) || /^\s{2,}\S/.test(line)
}

function items(lines: string[], mark: RegExp): string[] {
  const found: string[] = []
  for (const line of lines) {
    if (mark.test(line)) found.push(line.replace(mark, ''))
    else if (found.length > 0) found[found.length - 1] += `\n${line.trim()}`
  }
  return found
}

function list(tag: 'ul' | 'ol', entries: string[]): string {
  return `<${tag}>${entries.map((entry) => `<li>${inline(entry)}</li>`).join('')}</${tag}>`
}

function table(lines: string[]): string {
  const [head = [], , ...rows] = lines.map((line) =>
    line
      .replace(/^\||\|\s*$/g, '')
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  )
  const right = (lines[1] ?? '')
    .replace(/^\||\|\s*$/g, '')
    .split('|')
    .map((cell) => /-:\s*$/.test(cell))
  const row = (cells: string[], tag: string) =>
    `<tr>${cells.map((cell, i) => `<${tag}${right[i] ? ' class="right"' : ''}>${inline(cell)}</${tag}>`).join('')}</tr>`
  return `<table><thead>${row(head, 'th')}</thead><tbody>${rows.map((cells) => row(cells, 'td')).join('')}</tbody></table>`
}

/** Code first, so that nothing in it is taken for emphasis; links only where they lead somewhere harmless. */
function inline(text: string): string {
  const kept: string[] = []
  const keep = (html: string) => `\ue000${kept.push(html) - 1}\ue000`
  const marked = text
    .replaceAll('\ue000', '\ufffd')
    .replace(/(`+)([\s\S]*?[^`])\1(?!`)/g, (_, __, code: string) =>
      keep(`<code>${escapeMarkup(code.trim())}</code>`),
    )
    .replace(/\[([^\]]*)\]\(([^()\s]+)\)/g, (whole, label: string, href: string) =>
      /^(https?:|mailto:|#|\.{0,2}\/|[\w-]+(\.|\/|$))/.test(href) &&
      !/^(javascript|data|vbscript):/i.test(href)
        ? `${keep(`<a href="${escapeMarkup(href)}" rel="noreferrer">`)}${label}${keep('</a>')}`
        : whole,
    )
  return escapeMarkup(marked)
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replace(/(^|[\s(])[*_]([^*_\s][^*_]*)[*_](?=$|[\s).,;:!?])/g, '$1<em>$2</em>')
    .replace(/\ue000(\d+)\ue000/g, (_, index: string) => kept[Number(index)] ?? '')
}
