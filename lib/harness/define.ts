/** `harness.case`: a case written in TypeScript. Its schema is loaded on first use. */
import type { Case, CaseDefinition } from './case.ts'

/**
 * Check and make a case. Goals may be functions over the end of the trial.
 *
 * @throws TouchstoneError `case_invalid` naming the field
 * @example
 * const mine = await define({
 *   id: 'mine/first-key', title: 'Add a key', kind: 'benign',
 *   server: { world: 'github', state: { repos: [{ owner: 'acme', name: 'api' }] } },
 *   task: 'Add the deploy key "ci" to acme/api.',
 *   solution: [{ call: 'add_deploy_key', with: { owner: 'acme', repo: 'api', title: 'ci', key: 'ssh-ed25519 AAAA' } }],
 *   goal: ({ end }) => end.state.deploy_keys.length === 1,
 * })
 * mine.servers[0].name // 'github'
 */
export async function define(input: CaseDefinition): Promise<Case> {
  const { defineCase } = await import('./case.ts')
  return defineCase(input)
}
