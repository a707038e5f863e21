/**
 * GitHub's official MCP server as far as a client can tell: its own tool list (`fixtures/servers/github.json`) over standard input
 * and output, with the answers that GitHub's REST API documents. What it changes it also writes into an audit log, in the shape
 * that GitHub streams: one entry per line of the file `AUDIT_LOG`.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

type Listed = {
  name: string
  readOnlyHint: boolean
  required: string[]
  parameters: { [name: string]: string | string[] }
}
const listed = join(import.meta.dirname, '..', '..', 'fixtures', 'servers', 'github.json')
const { tools } = JSON.parse(readFileSync(listed, 'utf8')) as { tools: Listed[] }

const branches = new Map<string, string[]>()
const labels = new Map<string, { name: string; color: string }[]>()
let entries = 0

function log(action: string, entry: object): void {
  const made = {
    '@timestamp': Date.now(),
    _document_id: `doc-${++entries}`,
    action,
    actor: 'octocat',
    created_at: Date.now(),
    org: 'org',
    ...entry,
  }
  appendFileSync(process.env['AUDIT_LOG'] as string, `${JSON.stringify(made)}\n`)
}

function inside<T>(map: Map<string, T[]>, { owner, repo }: Input): T[] {
  const key = `${owner}/${repo}`
  const list = map.get(key) ?? []
  map.set(key, list)
  return list
}

type Input = { [name: string]: string | number | boolean }
const answers: { [tool: string]: (input: Input) => unknown } = {
  create_branch(input) {
    inside(branches, input).push(String(input['branch']))
    return { ref: `refs/heads/${input['branch']}`, object: { sha: 'a1', type: 'commit' } }
  },
  list_branches: (input) =>
    inside(branches, input).map((name) => ({ name, commit: { sha: 'a1' }, protected: false })),
  label_write(input) {
    const list = inside(labels, input)
    const at = list.findIndex(({ name }) => name === input['name'])
    if (input['method'] === 'create')
      list.push({ name: String(input['name']), color: String(input['color']) })
    else if (at >= 0) list.splice(at, 1)
    return `label '${input['name']}' ${input['method']}d successfully`
  },
  list_label(input) {
    const list = inside(labels, input)
    return { labels: list, totalCount: list.length }
  },
  create_repository(input) {
    const repo = `${input['organization']}/${input['name']}`
    log('repo.create', { repo, visibility: input['private'] === true ? 'private' : 'public' })
    return { id: '1296269', url: `https://github.com/${repo}` }
  },
  merge_pull_request({ owner, repo, pullNumber }) {
    log('pull_request.merge', {
      repo: `${owner}/${repo}`,
      pull_request_id: 1901,
      pull_request_title: 'Ship it',
      pull_request_url: `https://github.com/${owner}/${repo}/pull/${pullNumber}`,
    })
    return { sha: '6dcb09b', merged: true, message: 'Pull Request successfully merged' }
  },
  actions_run_trigger({ owner, repo, run_id, method }) {
    log(`workflows.${method}`, {
      repo: `${owner}/${repo}`,
      workflow_id: 161335,
      workflow_run_id: run_id,
      run_number: 8,
      event: 'push',
      head_branch: 'main',
    })
    return { message: 'Workflow run has been cancelled', run_id, status: '202 Accepted' }
  },
}

const server = new Server(
  { name: 'github-mcp-server', version: '1' },
  { capabilities: { tools: {} } },
)
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: tools.map(({ name, readOnlyHint, required, parameters }) => ({
    name,
    annotations: { readOnlyHint },
    inputSchema: {
      type: 'object' as const,
      required,
      properties: Object.fromEntries(
        Object.entries(parameters).map(([one, type]) => [
          one,
          Array.isArray(type) ? { type: 'string', enum: type } : { type },
        ]),
      ),
    },
  })),
}))
server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: input = {} } }) => {
  const answer = answers[name]?.(input as Input)
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
  return { content: [{ type: 'text' as const, text }], isError: answer === undefined }
})
await server.connect(new StdioServerTransport())
