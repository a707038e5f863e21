/** Elements made by hand: what a trial says becomes text and never markup. */

export type Child = Node | string | number | null | false | undefined | readonly Child[]
export type Props = { [name: string]: string | number | boolean | null | undefined | (() => void) }

/**
 * Control, bidirectional and invisible characters of foreign text, which could hide or turn what
 * stands beside them.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu

function clean(text: string): string {
  return text.replace(HIDDEN, (one) => (one === '\n' || one === '\t' ? one : '\ufffd'))
}

/** An element. Texts are text; a property that is a function listens for the event of its name. */
export function h(tag: string, props: Props = {}, ...children: Child[]): HTMLElement {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue
    if (typeof value === 'function') made.addEventListener(name, value)
    else made.setAttribute(name, value === true ? '' : String(value))
  }
  append(made, children)
  return made
}

export function append(to: Node, children: readonly Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue
    if (child instanceof Node) to.appendChild(child)
    else if (Array.isArray(child)) append(to, child)
    else to.appendChild(document.createTextNode(clean(String(child))))
  }
}

export type Params = { [name: string]: string | undefined }

/** The address of a view within the page. */
export function hrefOf(path: string, params: Params = {}): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) if (value) query.set(name, value)
  const text = query.toString()
  return `#/${path.split('/').map(encodeURIComponent).join('/')}${text ? `?${text}` : ''}`
}

export function link(to: string, props: Props, ...children: Child[]): HTMLElement {
  return h('a', { href: to, ...props }, ...children)
}

/** A table that scrolls sideways where it is too wide, by keyboard too. */
export function scrolling(label: string, table: HTMLElement): HTMLElement {
  return h('div', { class: 'scroll', role: 'region', 'aria-label': label, tabindex: 0 }, table)
}

/** A closed section that opens; its inside is made when it is opened first. */
export function folded(title: Child, inside: () => Child, props: Props = {}): HTMLElement {
  const made = h('details', props, h('summary', {}, title)) as HTMLDetailsElement
  let filled = false
  const fill = () => {
    if (filled || !made.open) return
    filled = true
    append(made, [inside()])
  }
  made.addEventListener('toggle', fill)
  fill()
  return made
}

/** The way back to the first view, through these. */
export function crumbs(...steps: Child[]): HTMLElement {
  return h(
    'nav',
    { class: 'crumbs', 'aria-label': 'Way back' },
    link(hrefOf(''), {}, 'Run'),
    steps.map((step) => [' / ', step]),
  )
}
