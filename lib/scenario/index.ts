/** `scenarios`: published scenario sets, read and published. */
export { type PublishOptions, publish } from './publish.ts'
export {
  casesOf,
  digestOfSet,
  get,
  isPublished,
  type Listed,
  list,
  load,
  type PublishedCase,
  type ScenarioSet,
  SET_DOMAIN,
  SHIPPED,
} from './read.ts'
