/**
 * Colours for code as it is typed. Colour is put between characters and changes none of them: the
 * text without its escape sequences is what was typed.
 */
import { styleText } from 'node:util'

type Kind = 'comment' | 'text' | 'number' | 'keyword'

const STYLES: Record<Kind, Parameters<typeof styleText>[0]> = {
  comment: 'gray',
  text: 'green',
  number: 'yellow',
  keyword: 'magenta',
}

const KEYWORDS = new Set(
  'as async await break case catch class const continue default delete do else export extends false finally for from function if import in instanceof interface let new null of return satisfies static super switch this throw true try type typeof undefined var void while yield'.split(
    ' ',
  ),
)

/**
 * One token. A text or comment that is not closed yet runs to where it must end. A slash begins an
 * expression where no value stands before it.
 */
const TOKEN = new RegExp(
  [
    String.raw`(?<comment>\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))`,
    String.raw`(?<text>'(?:[^'\\\n]|\\[\s\S])*'?|"(?:[^"\\\n]|\\[\s\S])*"?|` +
      '`(?:[^`\\\\]|\\\\[\\s\\S])*`?' +
      String.raw`|(?<=(?:^|[(,=:[!&|?{};])\s{0,8})\/(?:[^\\/\n[*]|\\.|\[(?:[^\]\\\n]|\\.)*\])(?:[^\\/\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])*\/\w*)`,
    String.raw`(?<number>(?<![\p{ID_Continue}$])(?:0[xXoObB][\da-fA-F_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)n?)`,
    String.raw`(?<word>[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*)`,
  ].join('|'),
  'gu',
)

/**
 * Code with colours. What is no code (a command, a question) and what holds control characters
 * comes back as it is.
 */
export function painted(code: string): string {
  if (/^\s*[.?]/.test(code) || /(?!\n)\p{Cc}/u.test(code)) return code
  return code.replace(TOKEN, (token: string, ...rest: unknown[]) => {
    const at = rest.at(-3) as number
    const groups = rest.at(-1) as { [kind: string]: string | undefined }
    const kind = kindOf(token, groups, code.slice(Math.max(0, at - 2), at))
    // A colour between a character and what combines with it would part them on the screen.
    if (kind === null || /^[\p{M}\u200d]/u.test(code.slice(at + token.length))) return token
    return token
      .split('\n')
      .map((line) => (line ? styleText(STYLES[kind], line, { validateStream: false }) : ''))
      .join('\n')
  })
}

function kindOf(
  token: string,
  { comment, text, number }: { [kind: string]: string | undefined },
  before: string,
): Kind | null {
  if (comment !== undefined) return 'comment'
  if (text !== undefined) return 'text'
  if (number !== undefined) return 'number'
  // `a.of` reads a member; `...of` does not.
  return KEYWORDS.has(token) && !/(^|[^.])\.$/.test(before) ? 'keyword' : null
}
