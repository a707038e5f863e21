/** The body of a thread in which a tool takes memory without end. */
import { worldNamed } from '../../lib/world/index.ts'

const tool = worldNamed('github').tools['add_deploy_key'] as { run: unknown }
tool.run = () => {
  const held: unknown[] = []
  for (;;) held.push({ next: held.length })
}
await import('../../lib/harness/run/thread.ts')
