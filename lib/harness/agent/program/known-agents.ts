/**
 * Agents that many people have: how each is called without a person, given the servers of a trial,
 * and read. The task goes to its standard input, which takes one of any length.
 *
 * To add one, add its entry. Options and shapes are those of the program's own `--help` and
 * documentation; `test/harness/agent/known-agents.real.ts` runs the real programs.
 *
 * Input tokens hold those that were read from a cache or written to one, output tokens those of
 * thinking: each once, whether the program counts them within or beside the others.
 */
import { onlyMembers, requireText } from '../../../arguments.ts'
import { gotWord } from '../../../choice.ts'
import { TouchstoneError } from '../../../errors.ts'
import { type CommandAgent, requireTexts, requireVariables } from './command.ts'

type Entry = CommandAgent & { from: string }

function words(text: string): string[] {
  return text.split(/\s+/)
}

const AGENTS = {
  'claude-code': {
    from: '@anthropic-ai/claude-code',
    command: 'claude',
    args: [
      '-p',
      '--mcp-config',
      '{mcp_config}',
      // No server, hook, memory or skill of the person at this machine.
      '--strict-mcp-config',
      '--setting-sources',
      '',
      '--disable-slash-commands',
      '--no-session-persistence',
      '--tools',
      '',
      '--permission-mode',
      'bypassPermissions',
      '--output-format',
      'json',
    ],
    // A process of root refuses to skip permissions unless it is told that it is boxed in.
    env: { IS_SANDBOX: '1', DISABLE_AUTOUPDATER: '1' },
    input: '{task}',
    output: {
      text: 'result',
      // Of every model that it asked, also on the side.
      inputTokens:
        'modelUsage.*.inputTokens + modelUsage.*.cacheReadInputTokens + modelUsage.*.cacheCreationInputTokens',
      outputTokens: 'modelUsage.*.outputTokens',
      steps: 'num_turns',
      error: 'result',
    },
    unavailable: ['"terminal_reason":"api_error"'],
  },
  codex: {
    from: '@openai/codex',
    command: 'codex',
    args: [
      'exec',
      '--json',
      '--skip-git-repo-check',
      '--ephemeral',
      '--ignore-user-config',
      '--ignore-rules',
      '--sandbox',
      'read-only',
      ...['shell_tool', 'unified_exec', 'multi_agent', 'view_image'].flatMap((one) => [
        '--disable',
        one,
      ]),
      '-c',
      'web_search="disabled"',
      '-c',
      'skills.include_instructions=false',
      '-c',
      'mcp_servers={mcp_servers}',
    ],
    input: '{task}',
    format: 'codex',
    output: {
      text: '[type=item.completed].item[type=agent_message].text[-1]',
      inputTokens: '[type=turn.completed].usage.input_tokens',
      outputTokens: '[type=turn.completed].usage.output_tokens',
      error: '[type=turn.failed].error.message',
    },
    unavailable: [
      '{"type":"turn.failed","error":{"message":"unexpected status ',
      '{"type":"turn.failed","error":{"message":"exceeded retry limit',
      '{"type":"turn.failed","error":{"message":"We’re currently experiencing high demand',
    ],
  },
  'gemini-cli': {
    from: '@google/gemini-cli',
    command: 'gemini',
    args: ['--approval-mode', 'yolo', '--allowed-mcp-server-names', '{mcp_names}', '-o', 'json'],
    // Else it reads no settings in a folder that nobody has said to trust.
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    input: '{task}',
    format: 'gemini',
    configFile: '.gemini/settings.json',
    settings: {
      skills: { enabled: false },
      tools: {
        exclude: words(
          `update_topic list_directory read_file grep_search glob replace write_file web_fetch
          run_shell_command list_background_processes read_background_output google_web_search
          write_todos enter_plan_mode invoke_agent activate_skill`,
        ),
      },
    },
    output: {
      text: 'response',
      inputTokens: 'stats.models.*.tokens.prompt',
      outputTokens: 'stats.models.*.tokens.candidates + stats.models.*.tokens.thoughts',
      error: 'error.message',
    },
    unavailable: ['"message": "{\\"error\\":', 'an Auth method', 'Invalid auth method'],
  },
  opencode: {
    from: 'opencode-ai',
    command: 'opencode',
    // Without a title it asks its model for one, and does not count that.
    args: ['run', '--pure', '--auto', '--format', 'json', '--title', 'task'],
    input: '{task}',
    output: {
      text: '[type=text].part.text',
      inputTokens:
        '[type=step_finish].part.tokens.input + [type=step_finish].part.tokens.cache.read + [type=step_finish].part.tokens.cache.write',
      outputTokens:
        '[type=step_finish].part.tokens.output + [type=step_finish].part.tokens.reasoning',
      error: '[type=error].error.data.message',
    },
    unavailable: ['"error":{"name":"APIError"', '"error":{"name":"ProviderAuthError"'],
    // Its keys stand elsewhere; in its configuration stand the person's own servers. Trials at once
    // would wait for one another's database.
    env: {
      OPENCODE_CONFIG: '{mcp_config}',
      XDG_CONFIG_HOME: '{folder}',
      OPENCODE_DB: '{folder}/sessions.db',
      OPENCODE_DISABLE_CLAUDE_CODE: '1',
    },
    format: 'opencode',
    settings: {
      autoupdate: false,
      tools: Object.fromEntries(
        words('bash edit glob grep read skill task todowrite webfetch websearch write').map(
          (name) => [name, false],
        ),
      ),
    },
  },
  'qwen-code': {
    from: '@qwen-code/qwen-code',
    command: 'qwen',
    args: [
      ...['--approval-mode', 'yolo', '--allowed-mcp-server-names', '{mcp_names}'],
      ...['-o', 'stream-json'],
    ],
    input: '{task}',
    output: {
      text: '[type=result].result',
      inputTokens: '[type=result].usage.input_tokens',
      outputTokens: '[type=result].usage.output_tokens',
      steps: '[type=result].num_turns',
      error: '[type=result].error.message',
    },
    format: 'gemini',
    unavailable: ['[API Error: '],
    configFile: '.qwen/settings.json',
    settings: {
      // Memories are files of this name, of which there are none.
      context: { fileName: ['touchstone-no-memory.md'] },
      skills: { disabledLevels: ['project', 'user', 'extension', 'bundled'] },
      // Else it asks its model after each task what to remember, and the next trial knows it.
      memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
      tools: {
        toolSearch: { enabled: false },
        exclude: words(
          `agent cron_create cron_delete cron_list edit enter_worktree exit_worktree get_goal glob
          grep_search list_agents loop_wakeup monitor notebook_edit read_file read_mcp_resource
          record_artifact report_findings run_shell_command send_message skill task_stop update_goal
          web_fetch write_file zoom_image`,
        ),
      },
    },
  },
} as const satisfies { [name: string]: Entry }

export type KnownAgent = keyof typeof AGENTS

/** Agents that `harness.agent.known` and `--agent` know by name. */
export const KNOWN_AGENTS = Object.keys(AGENTS) as KnownAgent[]

export type KnownOptions = {
  args?: readonly string[]
  env?: { readonly [name: string]: string }
  name?: string
  version?: string
}

/** @throws TouchstoneError `argument_invalid` */
export function knownAgent(
  name: KnownAgent,
  options: KnownOptions,
): CommandAgent & { name: string } {
  requireText(name, 'the name of a known agent', 'agent.known')
  onlyMembers(options, ['args', 'env', 'name', 'version'], 'agent.known options')
  if (!Object.hasOwn(AGENTS, name))
    throw new TouchstoneError(
      'argument_invalid',
      `expected one of ${KNOWN_AGENTS.join(', ')}, ${gotWord(name, KNOWN_AGENTS)}`,
      { where: 'agent.known' },
    )
  const entry: Entry = AGENTS[name]
  const { args = [], env = {}, ...rest } = options
  requireTexts(args, 'agent.known: args')
  requireVariables(env, 'agent.known: env')
  return {
    name,
    ...entry,
    ...rest,
    args: [...(entry.args ?? []), ...args],
    env: { ...entry.env, ...env },
    cwd: '{folder}',
  }
}
