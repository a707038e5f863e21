/** The body of a thread in which a tool takes memory without end. */
import { worldNamed } from '../../lib/world/index.ts'

const tool = worldNamed('github').tools['add_deploy_key'] as { run: unknown }
tool.run = () => {
  // By small pieces: V8 ends a thread at its limit, and the whole process where one piece passes it by far.
  let held: unknown = null
  for (;;) held = { held }
}
await import('../../lib/harness/run/thread.ts')
