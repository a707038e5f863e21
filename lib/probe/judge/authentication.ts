/**
 * Is an error about authentication? Judged by its words: the code -32001 that many servers use for
 * it also means an unknown session or a timeout.
 *
 * Each rule names a thing that credentials are, or an act of showing them. A word that other errors
 * use as well (log, token, 401) counts only in the company that makes it one.
 */

const KEY = `(?:api[ -]?|access[ -]?|agency[ -]?)keys?`
const TOKEN = `(?:[a-z0-9]+ ){0,2}(?:access |bearer |auth(?:entication)? |oauth |api )?tokens?`
const SECRET = `(?:${KEY}|${TOKEN}|credentials?|(?:[a-z]+-)+secret|authorization header)`
const AMISS = `(?:missing|invalid|expired|wrong|incorrect|bad|unknown|inactive|revoked)`

const RULES: readonly RegExp[] = [
  // Acts of authentication, in any form of the word.
  /\b(?:un|re-?)?authenticat/i,
  /\bauthentif/i,
  /\bunauthori[sz]ed\b|\bnot (?:been )?authori[sz]ed\b/i,
  /\bauthori[sz]ation (?:is )?(?:required|failed|denied|scope)\b|\bauthorization: ?bearer\b/i,
  /\b(?:auth|oauth|bearer|login) (?:is )?required\b/i,
  /认证失败|鉴权失败|未授权|未登录/,
  // Signing in. "log in" alone is also a log file that something is in.
  /\b(?:not|be|must be|aren't|isn't) (?:signed|logged)[ -]?in\b/i,
  /\bsign[ -]in (?:first|again|to|required|with)\b|\bplease sign[ -]?in\b/i,
  /\b(?:please|must|need to|have to|to) log[ -]?in\b|\blog in (?:first|again|with)\b|\bcall login\b/i,
  // Being turned away. Files are denied to the server's own process.
  /\bforbidden\b|\baccess denied\b|\binsufficient (?:scope|permissions?)\b|\bscope denied\b/i,
  /^(?!.*\b(?:EACCES|EPERM)\b).*\bpermission denied\b/is,
  // Credentials that are missing, invalid or asked for.
  new RegExp(String.raw`\b${AMISS}(?: or ${AMISS})* ${SECRET}\b`, 'i'),
  new RegExp(
    String.raw`\b${SECRET} (?:is |are |was |has )?(?:${AMISS}|required|needed|revoked)\b`,
    'i',
  ),
  new RegExp(
    String.raw`\b(?:provide|present|send|supply|pass|include|check)(?: [a-z'-]+){0,4} ${SECRET}\b`,
    'i',
  ),
  /\b[a-z0-9]+ api key (?:environment variable )?(?:is )?(?:required|not set|missing)\b/i,
  new RegExp(
    String.raw`\bno (?:valid )?(?:${KEY}|(?:access|bearer|auth|api) tokens?|credentials?)\b`,
    'i',
  ),
  /\bread-only token\b/i,
  // An HTTP status, said to be one.
  /\b(?:http|status|code|error)[ :=]*(?:code[ :=]*)?40[13]\b|\b401 unauthorized\b/i,
]

/** Words that end in "token" or begin with it and have nothing to do with credentials. */
const OTHER_TOKENS =
  /\b(?:unexpected|page|cursor|continuation|next|max|output|input|csrf) tokens?\b/gi

/**
 * Is the text of a JSON-RPC error about authentication?
 *
 * @param text the error's message and data, of which at most 4,096 characters are read
 * @see known answers and how often it is wrong: fixtures/probe/authentication.json
 */
export function isAboutAuthentication(text: string): boolean {
  const read = text.slice(0, 4096).replaceAll('_', ' ').replace(OTHER_TOKENS, ' ')
  return RULES.some((rule) => rule.test(read))
}
