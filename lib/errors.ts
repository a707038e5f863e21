/**
 * What went wrong with a call, as a stable word: code is for programs, message is for people.
 *
 * Only bad *calls* throw. A bad *result* (a refused address, a failed trial, an unbound record) is
 * a value.
 */
export type ErrorCode =
  // what was handed in
  | 'argument_invalid'
  | 'file_unreadable'
  | 'file_unwritable'
  | 'file_exists'
  | 'setting_missing'
  | 'dependency_missing'
  // JSON read strictly
  | 'json_utf8'
  | 'json_syntax'
  | 'json_duplicate_key'
  | 'json_unsafe_number'
  | 'json_lone_surrogate'
  | 'json_depth'
  | 'json_value'
  // published scenario sets
  | 'set_unknown'
  | 'set_altered'
  | 'set_invalid'
  | 'set_unpublished'
  // cases, worlds, servers, models
  | 'yaml_syntax'
  | 'case_invalid'
  | 'case_unknown'
  | 'case_untrusted'
  | 'world_unknown'
  | 'world_state_differs'
  | 'state_unreadable'
  | 'reset_failed'
  | 'world_broken'
  | 'tool_unknown'
  | 'fault_unknown'
  | 'model_unknown'
  | 'configuration_unknown'
  | 'server_unreachable'
  // run logs
  | 'run_unknown'
  | 'run_damaged'
  | 'run_invalid'
  | 'run_differs'
  | 'run_interrupted'
  | 'run_locked'
  | 'queue_unreachable'
  // receipts
  | 'surface_invalid'
  | 'record_invalid'
  | 'export_invalid'
  | 'classifier_invalid'
  | 'importer_invalid'
  | 'envelope_invalid'
  | 'key_invalid'
  | 'receipt_invalid'
  // probe
  | 'transport_unknown'
  | 'config_invalid'
  | 'declaration_invalid'
  | 'pattern_invalid'
  // charts, notebooks, command line
  | 'chart_invalid'
  | 'notebook_invalid'
  | 'notebook_failed'
  | 'never_settles'
  | 'usage'

/**
 * The one error that Touchstone throws on purpose.
 *
 * The message has the form "expected X, got Y (where)". `where` names a file with line and column,
 * or a field.
 *
 * @example
 * const e = new TouchstoneError('argument_invalid', 'expected a rate in [0, 1], got 2', { where: 'options.rate' })
 * e.message // 'expected a rate in [0, 1], got 2 (options.rate)'
 */
/**
 * A text that a terminal only shows: control characters, escape sequences, bidirectional overrides
 * and invisible characters become U+FFFD. Line feeds and tabs stay.
 *
 * @example
 * printable('a\u001b[31mb\nc') // 'a\ufffd[31mb\nc'
 */
export function printable(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}]/gu, (character) =>
      character === '\n' || character === '\t' ? character : '\ufffd',
    )
}

/** An error whose message may quote anybody's text: it is `printable`. */
export class TouchstoneError extends Error {
  readonly code: ErrorCode
  readonly where: string | undefined

  constructor(
    code: ErrorCode,
    message: string,
    options: { where?: string | undefined; cause?: unknown } = {},
  ) {
    super(
      printable(options.where ? `${message} (${options.where})` : message),
      'cause' in options ? { cause: options.cause } : undefined,
    )
    this.name = 'TouchstoneError'
    this.code = code
    this.where = options.where
  }

  toJSON(): { code: ErrorCode; message: string; where: string | null } {
    return { code: this.code, message: this.message, where: this.where ?? null }
  }
}
