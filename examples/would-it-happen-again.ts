/** Would it happen again? Two configurations, each case several times, and a verdict that may be "cannot tell". */
import { cases, harness } from 'touchstone'

const run = await harness
  .run(await cases.load('cases/lying_success'))
  .config('naive', { model: 'sim/naive' })
  .config('careful', { model: 'sim/careful' })
  .repeat(3)
  .seed(7)
  .out(null)
  .quiet()

const { a, b, verdict, primary } = run.compare('naive', 'careful', { metric: 'overclaim' })
console.log(`${b} against ${a}: ${primary.metric}, ${primary.cases} cases, ${verdict}`)

// Prints:
// careful against naive: overclaim, 4 cases, cannot tell
