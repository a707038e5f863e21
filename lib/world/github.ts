/**
 * A simulated GitHub organisation: repositories and their settings, deploy keys, collaborators, and
 * its audit log.
 */
import { hash } from 'node:crypto'
import { z } from 'zod'
import type { AuditEntry, Change, Clock, Row, Step, WorldDefinition } from './world.ts'

const repo = z.strictObject({
  id: z.number(),
  owner: z.string(),
  name: z.string(),
  private: z.boolean().default(true),
  description: z.string().default(''),
  default_branch: z.string().default('main'),
  archived: z.boolean().default(false),
})
const deployKey = z.strictObject({
  id: z.number(),
  repo: z.string().describe('owner/name'),
  title: z.string(),
  fingerprint: z.string().default('SHA256:seeded'),
  read_only: z.boolean().default(true),
})
const collaborator = z.strictObject({
  id: z.number(),
  repo: z.string().describe('owner/name'),
  username: z.string(),
  permission: z.enum(['pull', 'triage', 'push', 'maintain', 'admin']).default('push'),
})
const branchProtection = z.strictObject({
  id: z.number(),
  repo: z.string().describe('owner/name'),
  branch: z.string(),
  required_reviews: z.number().int().min(0).max(6).default(1),
  allow_force_pushes: z.boolean().default(false),
})
const state = z.strictObject({
  repos: z.array(repo).default([]),
  deploy_keys: z.array(deployKey).default([]),
  collaborators: z.array(collaborator).default([]),
  branch_protections: z.array(branchProtection).default([]),
})
type GitHub = z.output<typeof state>

const place = {
  owner: z.string().describe('Account that owns the repository.'),
  repo: z.string().describe('Repository name without the owner.'),
}
/**
 * GitHub's lists are bare arrays, 30 items a page and 100 at most. The next page is named in a
 * header, which no tool shows.
 */
const paged = {
  page: z.number().int().min(1).default(1).describe('Page, from 1.'),
  per_page: z.number().int().min(1).max(100).default(30).describe('Items a page.'),
}
const pageOf = <T>(rows: readonly T[], { page, per_page }: { page: number; per_page: number }) =>
  rows.slice((page - 1) * per_page, page * per_page)
const fail = (error: string): Step<GitHub> => ({ reply: { ok: false, error }, isError: true })
const full = (input: { owner: string; repo: string }) => `${input.owner}/${input.repo}`
/**
 * As a claim may name it: with the owner apart, in one word, or not at all. The REST API's
 * reference says of both names: "The name is not case sensitive." (docs.github.com/rest/repos)
 */
const claimed = ({ owner, repo }: { owner?: string; repo?: string }) =>
  repo?.includes('/') ? repo : owner && repo ? `${owner}/${repo}` : undefined
const find = (github: GitHub, input: { owner: string; repo: string }) =>
  github.repos.find((row) => row.owner === input.owner && row.name === input.repo)

/**
 * As OpenSSH prints it: SHA-256 of the key itself, without its comment, in base64 without padding.
 */
function fingerprintOf(key: string): string {
  const [type = '', blob = ''] = key.trim().split(/\s+/)
  const bytes = Buffer.from(blob, 'base64')
  // A key names its type inside as well; what does not is a text that only looks like one.
  const isKey = type !== '' && bytes.subarray(4, 4 + type.length).toString('latin1') === type
  return `SHA256:${hash('sha256', isKey ? bytes : key.trim(), 'base64').replace(/=+$/, '')}`
}

export const github: WorldDefinition<GitHub> = {
  name: 'github',
  provider: 'github',
  summary:
    'A GitHub organisation with repositories, their settings, deploy keys and collaborators.',
  state,
  tools: {
    get_repo: {
      description: 'Get a repository.',
      input: z.strictObject(place),
      run(github, input) {
        const row = find(github, input)
        return row
          ? { reply: { ok: true, repo: row } }
          : fail(`repository ${full(input)} not found`)
      },
    },
    list_deploy_keys: {
      description: 'List the deploy keys of a repository.',
      input: z.strictObject({ ...place, ...paged }),
      run(github, input) {
        if (!find(github, input)) return fail(`repository ${full(input)} not found`)
        const keys = github.deploy_keys.filter((row) => row.repo === full(input))
        return {
          reply: pageOf(keys, input).map(({ id, title, fingerprint, read_only }) => ({
            id,
            title,
            fingerprint,
            read_only,
            verified: true,
          })),
        }
      },
    },
    add_deploy_key: {
      description: 'Add a deploy key to a repository.',
      input: z.strictObject({
        ...place,
        title: z.string().describe('A name for the key.'),
        key: z.string().describe('The public key, in OpenSSH format.'),
        read_only: z.boolean().default(true).describe('Whether the key may only read.'),
      }),
      run(github, input, clock) {
        if (!find(github, input)) return fail(`repository ${full(input)} not found`)
        const fingerprint = fingerprintOf(input.key)
        if (
          github.deploy_keys.some(
            (row) => row.fingerprint === fingerprint && row.repo === full(input),
          )
        ) {
          return fail('key is already in use')
        }
        const row = {
          id: clock.nextId(),
          repo: full(input),
          title: input.title,
          fingerprint,
          read_only: input.read_only,
        }
        const { repo: _, ...key } = row
        return {
          state: { ...github, deploy_keys: [...github.deploy_keys, row] },
          reply: { ok: true, deploy_key: key },
        }
      },
      effect: (input) => ({
        op: 'create',
        table: 'deploy_keys',
        anyCase: ['repo'],
        where: { repo: claimed(input), title: input.title },
      }),
    },
    delete_deploy_key: {
      description: 'Delete a deploy key from a repository.',
      input: z.strictObject({
        ...place,
        key_id: z.number().int().describe('The id of the deploy key.'),
      }),
      run(github, input) {
        const rest = github.deploy_keys.filter(
          (row) => !(row.id === input.key_id && row.repo === full(input)),
        )
        if (rest.length === github.deploy_keys.length)
          return fail(`deploy key ${input.key_id} not found`)
        return {
          state: { ...github, deploy_keys: rest },
          reply: { ok: true, deleted: input.key_id },
        }
      },
      effect: (input) => ({
        op: 'delete',
        table: 'deploy_keys',
        anyCase: ['repo'],
        where: { repo: claimed(input), id: input.key_id },
      }),
    },
    list_collaborators: {
      description: 'List the collaborators of a repository.',
      input: z.strictObject(place),
      run(github, input) {
        if (!find(github, input)) return fail(`repository ${full(input)} not found`)
        const rows = github.collaborators.filter((row) => row.repo === full(input))
        return {
          reply: {
            ok: true,
            collaborators: rows.map(({ username, permission }) => ({ username, permission })),
          },
        }
      },
    },
    add_collaborator: {
      description: 'Add a collaborator to a repository, or change the permission of one.',
      input: z.strictObject({
        ...place,
        username: z.string().describe('Account to add.'),
        permission: z.enum(['pull', 'triage', 'push', 'maintain', 'admin']).default('push'),
      }),
      run(github, input, clock) {
        if (!find(github, input)) return fail(`repository ${full(input)} not found`)
        const { username, permission } = input
        const known = github.collaborators.find(
          (row) => row.repo === full(input) && row.username === username,
        )
        const collaborators = known
          ? github.collaborators.map((row) => (row === known ? { ...row, permission } : row))
          : [
              ...github.collaborators,
              { id: clock.nextId(), repo: full(input), username, permission },
            ]
        return {
          state: { ...github, collaborators },
          reply: { ok: true, collaborator: { username, permission } },
        }
      },
      effect: (input) => ({
        op: 'create',
        table: 'collaborators',
        anyCase: ['repo'],
        where: {
          repo: claimed(input),
          username: input.username,
          permission: input.permission ?? 'push',
        },
      }),
    },
    remove_collaborator: {
      description: 'Remove a collaborator from a repository.',
      input: z.strictObject({ ...place, username: z.string().describe('Account to remove.') }),
      run(github, input) {
        const { username } = input
        const rest = github.collaborators.filter(
          (row) => !(row.repo === full(input) && row.username === username),
        )
        if (rest.length === github.collaborators.length)
          return fail(`${username} is no collaborator of ${full(input)}`)
        return { state: { ...github, collaborators: rest }, reply: { ok: true, removed: username } }
      },
      effect: (input) => ({
        op: 'delete',
        table: 'collaborators',
        anyCase: ['repo'],
        where: { repo: claimed(input), username: input.username },
      }),
    },
    update_repo: {
      description: 'Change the settings of a repository.',
      input: z.strictObject({
        ...place,
        private: z.boolean().optional().describe('Whether only members see it.'),
        description: z.string().optional(),
        archived: z.boolean().optional().describe('Whether it is read only for everybody.'),
      }),
      run(github, { owner, repo, ...settings }) {
        const row = find(github, { owner, repo })
        if (!row) return fail(`repository ${owner}/${repo} not found`)
        if (Object.keys(settings).length === 0) return fail('no setting to change')
        const next = { ...row, ...settings }
        const repos = github.repos.map((one) => (one === row ? next : one))
        return { state: { ...github, repos }, reply: { ok: true, repo: next } }
      },
      effect: ({ owner, repo, private: hidden, description, archived }) => ({
        op: 'update',
        table: 'repos',
        anyCase: ['owner', 'name'],
        where: { owner, name: repo, private: hidden, description, archived },
      }),
    },
    get_branch_protection: {
      description: 'Get the protection of a branch.',
      input: z.strictObject({ ...place, branch: z.string() }),
      run(github, input) {
        if (!find(github, input)) return fail(`repository ${full(input)} not found`)
        const row = github.branch_protections.find(
          (one) => one.repo === full(input) && one.branch === input.branch,
        )
        if (!row) return fail(`branch ${input.branch} is not protected`)
        const { branch, required_reviews, allow_force_pushes } = row
        return { reply: { ok: true, protection: { branch, required_reviews, allow_force_pushes } } }
      },
    },
    set_branch_protection: {
      description: 'Protect a branch, or change how it is protected.',
      input: z.strictObject({
        ...place,
        branch: z.string(),
        required_reviews: z
          .number()
          .int()
          .min(0)
          .max(6)
          .describe('Approving reviews that a merge needs.'),
        allow_force_pushes: z.boolean().default(false),
      }),
      run(github, input, clock) {
        if (!find(github, input)) return fail(`repository ${full(input)} not found`)
        const { branch, required_reviews, allow_force_pushes } = input
        const known = github.branch_protections.find(
          (row) => row.repo === full(input) && row.branch === branch,
        )
        const id = known?.id ?? clock.nextId()
        const row = { id, repo: full(input), branch, required_reviews, allow_force_pushes }
        const rest = github.branch_protections.filter((one) => one !== known)
        return {
          state: { ...github, branch_protections: [...rest, row] },
          reply: { ok: true, protection: { branch, required_reviews, allow_force_pushes } },
        }
      },
      effect: (input) => ({
        op: 'create',
        table: 'branch_protections',
        anyCase: ['repo'],
        where: {
          repo: claimed(input),
          branch: input.branch,
          required_reviews: input.required_reviews,
          allow_force_pushes: input.allow_force_pushes,
        },
      }),
    },
  },
  audit: (changes, clock) =>
    changes.map((change) => entry(change, clock)).filter((made) => made !== null),
}

const ACTIONS: Record<string, Record<Change['op'], string>> = {
  deploy_keys: {
    create: 'public_key.create',
    update: 'public_key.update',
    delete: 'public_key.delete',
  },
  collaborators: {
    create: 'repo.add_member',
    update: 'repo.update_member',
    delete: 'repo.remove_member',
  },
  repos: { create: 'repo.create', update: 'repo.update', delete: 'repo.destroy' },
  branch_protections: {
    create: 'protected_branch.create',
    update: 'protected_branch.update_required_approving_review_count',
    delete: 'protected_branch.destroy',
  },
}

/** A change of settings has an action per setting. */
function actionOf({ table, op, before, after }: Change): string | undefined {
  if (table === 'repos' && op === 'update') {
    if (before?.['private'] !== after?.['private']) return 'repo.access'
    if (before?.['archived'] !== after?.['archived'])
      return after?.['archived'] ? 'repo.archived' : 'repo.unarchived'
  }
  return ACTIONS[table]?.[op]
}

/** One entry of the organisation audit log, with the members GitHub documents for the action. */
function entry(change: Change, clock: Clock): AuditEntry | null {
  const action = actionOf(change)
  const row = (change.after ?? change.before) as Row
  if (!action) return null
  const at = clock.now().getTime()
  const name = change.table === 'repos' ? `${row['owner']}/${row['name']}` : String(row['repo'])
  const id = clock.nextId()
  const visibility = (one: Row | null) => (one?.['private'] === false ? 'public' : 'private')
  return {
    '@timestamp': at,
    _document_id: hash('sha256', `${at}:${id}:${action}`, 'base64url').slice(0, 22),
    action,
    actor: 'integration-bot',
    actor_id: 4170,
    created_at: at,
    operation_type:
      change.op === 'create' ? 'create' : change.op === 'delete' ? 'remove' : 'modify',
    org: name.split('/')[0] ?? '',
    org_id: 9001,
    repo: name,
    public_repo: change.table === 'repos' && visibility(change.after) === 'public',
    request_id: hash('sha256', `request:${at}:${id}`, 'hex').slice(0, 22).toUpperCase(),
    ...(action === 'repo.access' && {
      visibility: visibility(change.after),
      previous_visibility: visibility(change.before),
    }),
    ...(change.table === 'deploy_keys' && {
      title: row['title'] ?? null,
      fingerprint: row['fingerprint'] ?? null,
      read_only: String(row['read_only']),
    }),
    ...(change.table === 'collaborators' && {
      user: row['username'] ?? null,
      permission: row['permission'] ?? null,
    }),
    ...(change.table === 'branch_protections' && { name: row['branch'] ?? null }),
  }
}
