/** How sure can I be? Intervals and a plan, with statistics alone: nothing else of the package is loaded. */
import { passHatK, plan, rate, wilson } from 'touchstone/stats'

const one = wilson(4, 5)
console.log(`4 of 5 trials of one case: ${percent(one.low)} to ${percent(one.high)}`)

// Scores of five trials of each of six cases.
const scores = [
  [1, 1, 1, 1, 1],
  [1, 1, 0, 1, 1],
  [0, 0, 0, 0, 1],
  [1, 1, 1, 1, 1],
  [1, 0, 1, 1, 0],
  [0, 1, 1, 1, 1],
]
const over = rate(scores)
console.log(`over cases: ${percent(over.estimate)}, ${percent(over.low)} to ${percent(over.high)}`)
console.log(`all of 3 trials of case 2 pass: ${percent(passHatK(4, 5, 3))}`)
const { evenly, wholly } = plan({ cases: 24, repeats: 5 }).ways
const points = [evenly, wholly].map(({ difference }) => Math.round(100 * difference))
console.log(`24 cases x 5 would find ${points[0]} points from all cases, ${points[1]} from a few`)

function percent(share: number): string {
  return `${Math.round(100 * share)}%`
}

// Prints:
// 4 of 5 trials of one case: 38% to 96%
// over cases: 73%, 37% to 92%
// all of 3 trials of case 2 pass: 40%
// 24 cases x 5 would find 18 points from all cases, 26 from a few
