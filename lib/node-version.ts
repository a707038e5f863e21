/** The Node that Touchstone needs: the public face asks first, before a newer part is used. */
import { TouchstoneError } from './errors.ts'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 19))
  throw new TouchstoneError(
    'dependency_missing',
    `expected Node 22.19 or later, got ${process.versions.node}: npm i -D node@24 has npm run and npx use 24`,
    { where: process.execPath },
  )
