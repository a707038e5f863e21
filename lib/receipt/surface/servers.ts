/**
 * The classifiers of servers that people connect, read from `servers/*.json` when one is first
 * asked for.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Classifier } from './classifier.ts'
import { type ClassifierFile, expand } from './compact.ts'

const FOLDER = new URL('./servers/', import.meta.url)

/**
 * Every classifier of `servers/*.json`. They are held to `checkClassifier` by a test, and not again
 * at each start.
 */
export function shippedServers(): Classifier[] {
  return readdirSync(fileURLToPath(FOLDER))
    .filter((name) => name.endsWith('.json'))
    .sort()
    .flatMap((name) => {
      const file: unknown = JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8'))
      return expand(file as ClassifierFile)
    })
}
