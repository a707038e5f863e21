/**
 * The package as it is published: compiled JavaScript and declarations with fonts in `dist/`; cases, sets, schemas, examples and
 * notebooks as they stand in the checkout.
 *
 * In a checkout package.json points at the TypeScript sources. Around `npm pack` it points at `dist/`: `prepack` swaps it and
 * `postpack` puts the checkout's back, which is kept in `dist/` meanwhile.
 */
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

const KEPT = 'dist/package.checkout.json'
const step = process.argv[2]

if (step === 'clean') {
  if (existsSync(KEPT)) copyFileSync(KEPT, 'package.json')
  rmSync('dist', { recursive: true, force: true })
} else if (step === 'publish') {
  // Everything of lib/ that is not TypeScript: fonts and their licence.
  for (const path of globSync('lib/**/*', { withFileTypes: true })) {
    const from = join(path.parentPath, path.name)
    if (!path.isFile() || /\.(ts|md)$/.test(from)) continue
    mkdirSync(dirname(join('dist', from)), { recursive: true })
    copyFileSync(from, join('dist', from))
  }
  const checkout = readFileSync('package.json', 'utf8')
  writeFileSync(KEPT, checkout)
  const { devDependencies: _, allowScripts: __, scripts: ___, ...manifest } = JSON.parse(checkout)
  const published = {
    ...manifest,
    bin: { touchstone: './dist/repl.js' },
    exports: Object.fromEntries(
      Object.entries<string | { default: string }>(manifest.exports).map(([face, to]) => {
        if (typeof to === 'string') return [face, to]
        const built = to.default.replace('./lib/', './dist/lib/').replace(/\.ts$/, '')
        return [face, { types: `${built}.d.ts`, default: `${built}.js` }]
      }),
    ),
    // npm runs postpack from the manifest on disk.
    scripts: { postpack: JSON.parse(checkout).scripts.postpack },
  }
  writeFileSync('package.json', `${JSON.stringify(published, null, 2)}\n`)
} else if (step === 'checkout') {
  copyFileSync(KEPT, 'package.json')
} else {
  throw new Error(`expected clean, publish or checkout, got ${step}`)
}
