/** Starts the kernel with a small scope, for the test that drives it through Jupyter's client. */
import * as display from '../../lib/display.ts'
import { runKernel } from '../../lib/repl/kernel.ts'

const drawn = {
  spec: { mark: 'bar' },
  svg: () => '<svg xmlns="http://www.w3.org/2000/svg"/>',
  png: async () => new Uint8Array([1, 2, 3]),
  text: () => 'a bar',
}
await runKernel(process.argv[2] ?? '', {
  scope: { display, drawn, forever: () => new Promise(() => {}) },
  version: '1.2.3',
})
process.exit(0)
