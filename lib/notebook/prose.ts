/**
 * Markdown as HTML for pages: CommonMark with GitHub's tables, by `marked`.
 *
 * Nothing in it is obeyed: tags are shown as text, links lead only to the web, to mail and to files
 * beside the page, and a picture that would be a request is a link.
 */
import type { Marked, RendererObject, Tokens } from 'marked'
import { escapeMarkup } from '../display.ts'
import { highlight } from './highlight.ts'

/** `https:`, `http:`, `mailto:`, or no scheme at all. */
const HARMLESS = /^(https?:|mailto:|[^:]*$|[^:]*[/?#])/i

/** @example await proseHtml('# A *title*') // '<h1>A <em>title</em></h1>\n' */
export async function proseHtml(markdown: string): Promise<string> {
  return (await reader()).parse(markdown)
}

let made: Promise<Marked> | undefined
function reader(): Promise<Marked> {
  return (made ??= import('marked').then(
    ({ Marked }) => new Marked({ gfm: true, async: true, renderer: RENDERER, walkTokens }),
  ))
}

/** Code is highlighted before it is written, since the highlighter is loaded when it is needed. */
async function walkTokens(token: Tokens.Generic): Promise<void> {
  if (token.type !== 'code') return
  token['text'] = await highlight(token['text'], token['lang'])
  token['escaped'] = true
}

const RENDERER: RendererObject = {
  html: ({ text }) => escapeMarkup(text),
  link(token) {
    const text = this.parser.parseInline(token.tokens)
    return HARMLESS.test(token.href) ? anchor(token.href, text) : escapeMarkup(token.raw)
  },
  image({ href, text }) {
    if (/^data:image\/(png|jpeg|gif|webp);/i.test(href))
      return `<img alt="${escapeMarkup(text)}" src="${escapeMarkup(href)}">`
    return HARMLESS.test(href) ? anchor(href, escapeMarkup(text)) : escapeMarkup(text)
  },
}

function anchor(href: string, html: string): string {
  return `<a href="${escapeMarkup(href)}" rel="noreferrer">${html}</a>`
}
