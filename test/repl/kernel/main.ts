/** Starts the kernel with a small scope, for the test that drives it through Jupyter's client. */
import { setImmediate } from 'node:timers/promises'
import * as display from '../../../lib/display.ts'
import { runKernel } from '../../../lib/repl/kernel/kernel.ts'
import { Shown } from '../../../lib/shown.ts'

class Rates extends Shown {
  text(look: display.Look = {}) {
    return `Rates\n${display.table([{ head: 'case' }], [['one'], ['two']], look)}`
  }
}

const drawn = {
  spec: { mark: 'bar' },
  svg: () => '<svg xmlns="http://www.w3.org/2000/svg"/>',
  png: async () => new Uint8Array([1, 2, 3]),
  text: () => 'a bar',
}
await runKernel(process.argv[2] ?? '', {
  scope: {
    display,
    drawn,
    rates: new Rates(),
    forever: () => new Promise(() => {}),
    tick: setImmediate,
  },
  version: '1.2.3',
})
process.exit(0)
