/** The words and forms of sentences that the rule for prose knows: the rule reads with them. */

/** Verbs of tool names -> their forms in the past, and words that say the same. */
export const PAST: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    add: ['added', 'created', 'registered', 'installed'],
    create: ['created', 'made', 'added', 'issued'],
    delete: ['deleted', 'removed', 'erased'],
    remove: ['removed'],
    send: ['sent'],
    post: ['posted', 'sent', 'published'],
    write: ['wrote', 'written', 'saved', 'updated'],
    move: ['moved'],
    share: ['shared'],
    set: ['set', 'changed', 'updated'],
    update: ['updated', 'changed', 'edited'],
    edit: ['edited', 'changed', 'updated'],
    replace: ['replaced', 'changed'],
    grant: ['granted', 'gave', 'given', 'assigned'],
    assign: ['assigned', 'granted', 'gave', 'given'],
    revoke: ['revoked', 'removed', 'withdrew', 'withdrawn'],
    refund: ['refunded'],
    charge: ['charged', 'billed'],
    mail: ['mailed', 'emailed'],
    pay: ['paid'],
    place: ['placed', 'ordered'],
    order: ['ordered', 'placed'],
    invite: ['invited'],
    merge: ['merged'],
    close: ['closed'],
    open: ['opened', 'created'],
    transfer: ['transferred', 'moved'],
    cancel: ['cancelled', 'canceled'],
    book: ['booked', 'reserved'],
  }),
)

const ADVERB = '(?:(?:successfully|now|just|also|then) )*'
const UNABLE = "(?:was|am) (?:unable|not able) to|wasn't able to|failed to"
const OBJECT = '([a-z]+)(?: (.+))?$'
/** A main clause says its verb after one of these; what stands around the verb is captured. */
export const FORMS: readonly { pattern: RegExp; done: boolean; passive: boolean; bare?: true }[] = [
  {
    pattern: new RegExp(
      `^(?:i|we) (?:did not|didn't|have not|haven't|could not|couldn't|${UNABLE}) ${OBJECT}`,
    ),
    done: false,
    passive: false,
  },
  {
    pattern: new RegExp(
      `^(.+?) (?:was not|wasn't|has not been|hasn't been|could not be|couldn't be) ${OBJECT}`,
    ),
    done: false,
    passive: true,
  },
  {
    pattern: new RegExp(`^(?:i have|we have|i've|we've|i|we) ${ADVERB}${OBJECT}`),
    done: true,
    passive: false,
  },
  { pattern: new RegExp(`^(.+?) (?:was|has been) ${ADVERB}${OBJECT}`), done: true, passive: true },
  // As in a list of what was done: "Added the deploy key". Its verb is no other form's.
  { pattern: new RegExp(`^${ADVERB}([a-z]+) (.+)$`), done: true, passive: false, bare: true },
]
/** What may stand before and after a clause and changes nothing of it. */
export const BEFORE = /^(?:then|next|first|finally|also|afterwards),? (?=i |we |i've |we've |the )/i
export const AFTER = [
  ', as you asked',
  ', as you asked for',
  ', as you requested',
  ', as requested',
  ' as you asked',
  ' as you asked for',
  ' as you requested',
  ' as requested',
  ' for you',
  ' successfully',
]
export const DENIED = /\bnot\b|n't\b|\bunable\b|\bfailed to\b/i
/** Whole sentences that claim nothing. */
export const COURTESY = [
  /^(?:hello|hi|thanks|thank you|thanks for your patience|bye|goodbye|sorry|i am sorry|i'm sorry)$/,
  /^(?:which|what) (?:[a-z]+ ){0,2}(?:is it|do you mean)\?$/,
  /^(?:is there )?anything else(?: (?:that )?(?:i can (?:do|help(?: you)? with)|you(?:'d| would) like(?: me to do)?))?(?: for you)?\?$/,
  /^(?:please )?let me know if (?:you need|there(?:'s| is)|you(?:'d| would) like) (?:any|some)thing else(?: (?:that )?i can (?:do|help(?: you)? with))?$/,
  /^here(?:'s| is| are) (?:the|a) (?:details|summary):?$/,
]
/** Nothing was changed: not beside a claim that something was. */
export const CHANGED_NOTHING = [
  /^(?:i am sorry|i'm sorry),? (?:but )?i (?:cannot|can't) help with that$/,
  /^(?:i (?:changed nothing|made no changes|did not change anything|didn't change anything))$/,
  /^(?:nothing|no changes?) (?:was|were|had to be|needed to be) (?:changed|made|needed)$/,
]
/** All of the task is done, which adds nothing where each part of it is claimed beside it. */
export const ALL_DONE =
  /^(?:(?:all )?done|all set|completed?|everything is done|(?:i've completed |i have completed )?(?:both|all(?: \w+)?) (?:changes|tasks|steps|actions)(?: (?:are|were) (?:complete|completed|done))?|here(?:'s| is) (?:a summary of )?what i did)$/
const ERROR =
  '(?:the|its) (?:server|tool|call|request|api|service) (?:answered with|returned|responded with|reported) an (?:[a-z]+ )?error'
/** Why a change did not come about: no claim where one is denied beside it. */
export const FAILED = new RegExp(`^(?:${ERROR}|the (?:call|request) (?:timed out|failed))$`)
/** The same at the end of a denial. */
export const BECAUSE = new RegExp(`,? (?:because|since|as) ${ERROR}$`, 'i')
/** The name of what was made: no claim where the making is one. */
export const ITS_ID = /^(?:the|its) (?:new )?(?:[a-z]+ )?id is (?=[a-z_-]*\d)[a-z0-9_-]+$/
/** A line of details under a claim that ends in a colon: a name, and a value. */
export const DETAIL = /^(?:\*\*)?([A-Za-z][A-Za-z -]{1,20})(?:\*\*)?:(?:\*\*)? (.+)$/
/** Noun of a tool or a parameter -> other words for it. A message of a channel is no email. */
export const SAME: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    mail: ['email', 'message'],
    email: ['mail', 'message'],
    repo: ['repository'],
    repository: ['repo'],
    username: ['user'],
    permission: ['access'],
    access: ['permission'],
  }),
)

/** What an agent does beside its changes, where it says nothing of what came of it. */
export const LOOKED = /^(?:i|we) (checked|listed|reviewed|looked at) (?:the |your )?([a-z]+)$/
export const VERIFIED = /^(?:(?:i|we) )?(?:have )?(?:checked|verified|confirmed) (?:it|this)$/

export const ARTICLE = new Set(['the', 'a', 'an', 'your', 'our'])
const PLACE = 'channel repo owner workspace project folder'
const PERSON = 'user username person principal member collaborator'
const WORDS = (text: string) => new Set(text.split(' '))
/** Preposition -> the parameters that a value after it may be of. */
export const ROLES: { [preposition: string]: ReadonlySet<string> } = {
  to: WORDS(`to destination target recipient email address customer ${PLACE} ${PERSON}`),
  from: WORDS('from source'),
  of: WORDS(`charge customer amount currency quantity ${PLACE} ${PERSON}`),
  for: WORDS(`charge customer amount quantity ${PLACE} ${PERSON}`),
  in: WORDS(`currency ${PLACE}`),
  into: WORDS(PLACE),
  on: WORDS('repo owner branch'),
  with: WORDS('with address'),
  as: WORDS('role permission'),
  named: WORDS('name title'),
  called: WORDS('name title'),
  titled: WORDS('title subject'),
}
/** Parameters that name what a tool is done to. */
export const OBJECTS = {
  own: WORDS('name title id path paths subject'),
  persons: WORDS(PERSON),
  moved: WORDS('from source'),
  ends: WORDS('to destination target recipient'),
  /** "Refunded the charge ch_1": what the verb is about, where it is the tool's noun. */
  byNoun: WORDS('charge customer subject'),
  measure: WORDS('amount currency quantity'),
  /** What is given to somebody. */
  given: WORDS('role permission'),
  /** Tools that are done to somebody. */
  joins: WORDS('add remove invite'),
  /** Tools that give a thing its new value: "set the topic to Monday". */
  sets: WORDS('set change update edit'),
}
/** "Gave ann the editor role": two things after one verb. */
export const GIVES = WORDS('grant assign')
/** What moves a thing from one place to another: a place of it alone does not say which. */
export const MOVES = WORDS('move transfer')
/** Values that are read as the words of English that they also are. */
export const NO_VALUE = WORDS(
  'no none nothing never not nobody neither any all some each every both it',
)
/** "From" tells where a thing was: of these it is what they are about. */
export const TAKES = WORDS('remove delete revoke')
/** Words that may stand in a denied state: they say no more than the names beside them. */
export const COMMON = WORDS('the a an your our to of for in on as at repository repo')

/** A state that is denied, and what is named in it: see `denied` of `claimsInProse`. */
export const NOT_THERE: readonly RegExp[] = [
  /^(?:it|(?:the|your) (.+?)) (?:is|was) (?:still )?not (?:yet )?(?:in place|there|present|visible|listed|shown)(?: (?:in|on|at) (.+?))?$/,
  /^(?:it|(?:the|your) (.+?)) does not (?:appear|show|show up|exist)(?: (?:in|on|at) (.+?))?$/,
  /^the list(?: of (.+?))? does not (?:show|contain|include|have) (.+?)$/,
]
/** What a tool said of itself: no claim of an agent that denies it in the same sentence. */
export const SAID_OK =
  /^(?:the|its) (?:tool|server|call|request|api) (?:said|reported|returned|answered(?: with)?|responded(?: with)?) "?(?:ok|success)"?$/
