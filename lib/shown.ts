/**
 * Values that show themselves: at the prompt and in `console.log` as their text, in a notebook as
 * the same text, its tables as tables.
 */
import { inspect } from 'node:util'
import { type Look, lookOf, marked } from './display.ts'

/** What a notebook is handed: texts by media type. */
type Bundle = { [mime: string]: string }

/** Base of what people see: a subclass gives `text()`, and the prompt and notebooks show it. */
export abstract class Shown {
  /** The text for people. @param look colours and width, default plain and 100 characters */
  abstract text(look?: Look): string

  [inspect.custom](_depth: number, options: { colors?: boolean }): string {
    return this.text({ ...lookOf(process.stdout), colors: options?.colors === true })
  }

  [Symbol.for('Jupyter.display')](): Bundle | Promise<Bundle> {
    return shownIn((look) => this.text(look))
  }
}

/** What a notebook shows of a text: the text, and where it has tables, the same as HTML. */
function shownIn(say: (look: Look) => string): Bundle {
  const html = marked(say)
  return { 'text/plain': say({ width: 100 }), ...(html !== undefined && { 'text/html': html }) }
}

/** Let plain data show itself. It stays what it is: a copy of it shows nothing. */
export function shownAs<T extends object>(value: T, say: (look: Look) => string): T {
  const hidden = (does: unknown) => ({ enumerable: false, value: does })
  return Object.defineProperties(value, {
    [inspect.custom]: hidden((_depth: number, { colors }: { colors?: boolean }) =>
      say({ ...lookOf(process.stdout), colors: colors === true }),
    ),
    [Symbol.for('Jupyter.display')]: hidden(() => shownIn(say)),
  })
}
