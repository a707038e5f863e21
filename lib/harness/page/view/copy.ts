/** Buttons that copy a text. In a frame a page may have no clipboard of its own. */
import { type Child, h } from './dom.ts'

/** How long a button says what came of it, in milliseconds. */
const SAID_MS = 2500

/** A button that copies. @param what is copied, as who cannot see the button hears it */
export function copyButton(what: string, text: () => string, shown: Child = 'copy'): HTMLElement {
  const said = h('span', { role: 'status', class: 'dim small' })
  const click = async () => {
    said.textContent = (await copied(text())) ? 'copied' : 'cannot copy here: select the text'
    setTimeout(() => {
      said.textContent = ''
    }, SAID_MS)
  }
  const button = h(
    'button',
    { type: 'button', class: 'copy', 'aria-label': `${shown}: ${what}`, click: () => void click() },
    shown,
  )
  return h('span', { class: 'copies' }, button, ' ', said)
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const active = document.activeElement as HTMLElement | null
    const area = h('textarea', { class: 'away', 'aria-hidden': 'true', tabindex: -1 })
    ;(area as HTMLTextAreaElement).value = text
    document.body.appendChild(area)
    ;(area as HTMLTextAreaElement).select()
    const done = document.execCommand('copy')
    area.remove()
    active?.focus()
    return done
  }
}
