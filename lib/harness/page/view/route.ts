/** Which view the address asks for, and going from one to another. */
import { casesSection } from './cases.ts'
import { held, readIndex } from './data.ts'
import { append, type Child, h, hrefOf, link, type Params } from './dom.ts'
import { trialsView } from './list.ts'
import { overviewView } from './overview.ts'
import { chartsSection } from './pictures.ts'
import { reveal } from './shown-events.ts'
import { caseView } from './side.ts'
import { trialView } from './trial.ts'

type Place = { view: string; name: string; params: Params }

function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  const [view = '', ...rest] = path.split('/').map((part) => {
    try {
      return decodeURIComponent(part)
    } catch {
      return part
    }
  })
  return { view, name: rest.join('/'), params: Object.fromEntries(new URLSearchParams(query)) }
}

function missing(what: string): Child[] {
  return [
    h('h1', { tabindex: -1 }, `No such ${what}`),
    h('p', {}, link(hrefOf(''), {}, 'Back to the run')),
  ]
}

/** The children of a view. Filters go to the same view with other parameters. */
function viewOf({ view, name, params }: Place, go: (to: string) => void): Child[] {
  const { overview, trials } = held
  if (view === 'case') {
    const at = overview.cases.findIndex(({ id }) => id === name)
    return at < 0 ? missing('case') : caseView(at)
  }
  if (view === 'trial') {
    const found = trials.find(({ key }) => key === name)
    return found ? trialView(found, params) : missing('trial')
  }
  if (view === 'trials') return trialsView(params, (to) => go(hrefOf('trials', to)))
  const cases = casesSection(params, (to) => go(hrefOf('', to)))
  return [...overviewView(), cases, chartsSection(overview)]
}

export async function start(): Promise<void> {
  const main = document.querySelector('main') as HTMLElement
  try {
    await readIndex()
  } catch (error) {
    main.textContent = `This page cannot be read here: ${String(error)}`
    return
  }
  let shown = ''
  const show = () => {
    const place = placeOf(location.hash)
    // A place inside the view that is shown: the browser goes there by itself.
    if (/^#call-\d+$/.test(location.hash)) return
    const active = document.activeElement?.id ?? ''
    const top = `${place.view}/${place.name}`
    const same = shown === top
    const children = viewOf(place, (to) => {
      history.replaceState(null, '', to)
      show()
    })
    main.textContent = ''
    append(main, children)
    document.title = `${main.querySelector('h1')?.textContent ?? 'Run'} – Touchstone`
    if (same && active) document.getElementById(active)?.focus()
    const asked = Object.keys(place.params).length > 0 && place.view === ''
    if (!same) {
      scrollTo(0, 0)
      const head = asked
        ? document.querySelector<HTMLElement>('#cases h2')
        : main.querySelector<HTMLElement>('h1')
      if (shown !== '' || asked) head?.focus()
      if (asked) head?.scrollIntoView()
    } else if (asked) document.querySelector('#cases')?.scrollIntoView()
    shown = top
    main.dataset['shown'] = location.hash || '#/'
  }
  addEventListener('hashchange', show)
  addEventListener('click', (event) => {
    const inner = (event.target as Element | null)?.closest?.('a.inner')
    if (!inner) return
    event.preventDefault()
    const to = document.getElementById((inner.getAttribute('href') ?? '').slice(1))
    reveal(to)
    to?.scrollIntoView({ block: 'center' })
    to?.focus()
  })
  addEventListener('beforeprint', () => {
    for (const one of document.querySelectorAll('details')) one.open = true
  })
  show()
}
