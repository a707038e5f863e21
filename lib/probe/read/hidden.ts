/**
 * Rules that a pattern cannot state, because the character beside decides: text that a person does
 * not see and a model does.
 *
 * Each is one pass over the text. What each looks for is written in the published pattern set under
 * the same name.
 */

export type CodeRule = (text: string) => boolean

const JOINING =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}]/u
const PICTOGRAPH = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f/u
const ALWAYS_ZERO_WIDTH = /[\u00ad\u115f\u1160\u180e\u200b\u2060-\u2064\u3164]|\u034f/u

function tagCharacters(text: string): boolean {
  // A subdivision flag is a black flag, up to six tag characters and the cancel tag; take those
  // out, then any is too many.
  return /[\u{e0000}-\u{e007f}]/u.test(
    text.replace(/\u{1f3f4}[\u{e0020}-\u{e007e}]{1,6}\u{e007f}/gu, ''),
  )
}

function zeroWidth(text: string): boolean {
  if (ALWAYS_ZERO_WIDTH.test(text) || text.indexOf('\ufeff', 1) > 0) return true
  const characters = /[\u200c\u200d]/.test(text) ? [...text] : []
  return characters.some((character, i) => {
    const [before = '', behind = ''] = [characters[i - 1], characters[i + 1]]
    const joins = JOINING.test(before) || JOINING.test(behind)
    if (character === '\u200c') return !joins
    return character === '\u200d' && !joins && !(PICTOGRAPH.test(before) && PICTOGRAPH.test(behind))
  })
}

const bidiControls: CodeRule = (text) => /[\u202a-\u202e\u2066-\u2069]/.test(text)
const variationSelectors: CodeRule = (text) => /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{4}/u.test(text)
const controlCharacters: CodeRule = (text) =>
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\r(?!\n)/.test(text)

function opaqueBlob(text: string): boolean {
  for (const { 0: run, index } of text.matchAll(/[A-Za-z0-9+/_-]+/g)) {
    if (run.length < 200) continue
    if (text.slice(Math.max(0, index - 100), index).endsWith(';base64,')) continue
    const digits = /[0-9]/.test(run)
    if (digits && /[a-z]/.test(run) && /[A-Z]/.test(run)) return true
    if (run.length >= 256 && digits && /^[0-9a-f]+$/i.test(run) && /[a-f]/i.test(run)) return true
  }
  return false
}

/** Blanks in a row, and something behind them. */
const padding: CodeRule = (text) => {
  for (const { 0: run, index } of text.matchAll(/\s+/g)) {
    if (run.length >= 50 && index + run.length < text.length) return true
  }
  return false
}

/**
 * Greek letters that a reader takes for Latin ones. Those of formulas (α, μ, Δ, Ω) are not among
 * them.
 */
const LATIN_LOOKING_GREEK = /[ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο]/u

function mixedScripts(text: string): boolean {
  for (const [word] of text.matchAll(/\p{L}+/gu)) {
    if (!/\p{Script=Latin}/u.test(word)) continue
    if (/\p{Script=Cyrillic}/u.test(word) || LATIN_LOOKING_GREEK.test(word)) return true
  }
  return false
}

/** By the name under `code` in the pattern set. */
export const CODE_RULES: Record<string, CodeRule> = {
  tag_characters: tagCharacters,
  zero_width: zeroWidth,
  bidi_controls: bidiControls,
  variation_selectors: variationSelectors,
  control_characters: controlCharacters,
  opaque_blob: opaqueBlob,
  padding,
  mixed_scripts: mixedScripts,
}

/**
 * The text as a reader means it: compatibility forms folded, hidden characters gone, blanks single.
 * For matching only.
 */
export function folded(text: string): string {
  return text
    .normalize('NFKC')
    .replace(
      /\u034f|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]|[\u{e0000}-\u{e007f}\u00ad\u115f\u1160\u180e\u200b-\u200f\u2060-\u2064\u3164\ufeff\u202a-\u202e\u2066-\u2069]/gu,
      '',
    )
    .replace(/\s+/g, ' ')
}
