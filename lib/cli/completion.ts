/** `touchstone completion`: what shells complete, and the scripts that ask for it. */
import { TouchstoneError } from '../errors.ts'
import { EXIT, type Option, type Verb } from './verb/verb.ts'
import { VERBS } from './verbs.ts'

/**
 * Each script asks the program that is being typed, so that it also completes a path or another
 * name.
 */
const SCRIPTS: { [shell: string]: string } = {
  bash: `_touchstone() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$(printf '%q' "\${line%%$'\\t'*}")")
  done < <("\${COMP_WORDS[0]}" completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o bashdefault -o default -F _touchstone touchstone`,
  zsh: `_touchstone() {
  local -a found shown
  local line
  for line in "\${(@f)$("\${words[1]}" completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z "$line" ]] && continue
    found+=("\${line%%$'\\t'*}")
    shown+=("\${line//$'\\t'/  -- }")
  done
  if (( \${#found} )); then compadd -l -d shown -a found; else _files; fi
}
(( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit -u }
compdef _touchstone touchstone`,
  fish: `function __touchstone_words
  set -l typed (commandline -opc)
  command $typed[1] completion words -- $typed[2..] (commandline -ct) 2>/dev/null
end
complete -c touchstone -n 'test (count (commandline -opc)) -eq 1' -f -a '(__touchstone_words)'
complete -c touchstone -n 'test (count (commandline -opc)) -gt 1' -a '(__touchstone_words)'`,
}

export const completion: Verb = {
  usage: 'touchstone completion bash|zsh|fish',
  says: 'Prints a script that lets a shell complete verbs, options, runs, cases, configurations and published sets with Tab.',
  options: {},
  more: [
    'In ~/.bashrc:  source <(touchstone completion bash)',
    'In ~/.zshrc:   source <(touchstone completion zsh)',
    'In fish:       touchstone completion fish | source',
    'The scripts ask for what fits by: touchstone completion words -- WORD... (the last one is being typed)',
  ].join('\n'),
  exits: { 0: 'printed' },
  examples: ['completion bash', 'completion words -- show --r'],
  takes: { least: 1, most: Number.POSITIVE_INFINITY },
  offers: (before) => (before.length === 0 ? Object.keys(SCRIPTS) : []),
  async run(words) {
    const [what = '', ...typed] = words.positionals
    if (what === 'words') {
      for (const line of await offered(typed)) process.stdout.write(`${line}\n`)
      return EXIT.asHoped
    }
    const script = Object.hasOwn(SCRIPTS, what) ? SCRIPTS[what] : undefined
    if (script === undefined || typed.length > 0)
      throw new TouchstoneError(
        'usage',
        `expected one of ${Object.keys(SCRIPTS).join(', ')}, got "${words.positionals.join(' ')}"`,
      )
    process.stdout.write(`${script}\n`)
    return EXIT.asHoped
  },
}

/**
 * What fits at the end of words, a line each: the word, and behind a tab what it means. Nothing
 * where files fit.
 */
async function offered(typed: readonly string[]): Promise<string[]> {
  const before = typed.slice(0, -1)
  const stub = typed.at(-1) ?? ''
  const [name, ...given] = before
  const fitting = (lines: readonly string[]) => lines.filter((line) => line.startsWith(stub))
  if (name === undefined) return fitting([...Object.keys(VERBS), 'help', '--help', '--version'])
  if (name === 'help') return fitting(Object.keys(VERBS))
  const verb = Object.hasOwn(VERBS, name) ? await VERBS[name]?.() : undefined
  if (!verb || given.includes('--')) return []
  const awaited = /^--([^=]+)$/.exec(given.at(-1) ?? '')?.[1]
  const option = awaited === undefined ? undefined : verb.options[awaited]
  try {
    if (option?.type === 'string') return fitting((await option.offers?.(given)) ?? [])
    if (stub.startsWith('-')) {
      const help: Option = { type: 'boolean', says: 'this and more' }
      const left = Object.entries({ ...verb.options, help }).filter(
        ([one, { multiple }]) => multiple || !given.includes(`--${one}`),
      )
      return fitting(left.map(([one, { says }]) => `--${one}\t${says.split(/[.;:] /)[0]}`))
    }
    const plain = given.filter((word, i) => {
      const of = /^--([^=]+)$/.exec(given[i - 1] ?? '')?.[1]
      return !word.startsWith('-') && (of === undefined || verb.options[of]?.type !== 'string')
    })
    return fitting((await verb.offers?.(plain, given)) ?? [])
  } catch {
    // A folder that cannot be read offers nothing; whoever runs the command is told why.
    return []
  }
}
