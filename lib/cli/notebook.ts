/**
 * `touchstone notebook` and `touchstone kernel`: percent notebooks run and written, and the Jupyter
 * kernel.
 */
import { dirname, join } from 'node:path'
import { lookOf } from '../display.ts'
import { TouchstoneError } from '../errors.ts'
import { ownVersion } from '../harness/run/packages.ts'
import * as notebooks from '../notebook/index.ts'
import { EXIT, JSON_OPTION, print, type Verb } from './verb/verb.ts'

export const notebook: Verb = {
  usage: 'touchstone notebook FILE.ts... [options]',
  says: 'Runs percent-format notebooks and writes what they show. Stops at the first cell that fails, with exit code 1.',
  options: {
    md: { type: 'boolean', says: 'write Markdown with SVG files' },
    html: { type: 'boolean', says: 'write one self-contained page' },
    ipynb: { type: 'boolean', says: 'write a Jupyter notebook' },
    out: {
      type: 'string',
      value: 'DIR',
      says: 'folder for what is written. Default: out beside the notebook',
    },
    set: {
      type: 'string',
      multiple: true,
      value: 'NAME=VALUE',
      says: 'a parameter of the cell tagged "parameters"; may be given again',
    },
    watch: { type: 'boolean', says: 'serve the page on loopback and run again on every save' },
    json: JSON_OPTION,
  },
  exits: { 0: 'every cell ran', 1: 'a cell failed' },
  examples: ['notebook question.ts --html --out pages'],
  takes: { least: 1, most: Number.POSITIVE_INFINITY },
  async run(words, signal) {
    const set: { [name: string]: string } = Object.create(null)
    for (const pair of words.texts('set')) {
      const at = pair.indexOf('=')
      if (at < 1)
        throw new TouchstoneError('usage', `expected NAME=VALUE, got "${pair}"`, { where: '--set' })
      set[pair.slice(0, at)] = pair.slice(at + 1)
    }
    if (words.flag('watch')) {
      if (words.positionals.length > 1)
        throw new TouchstoneError('usage', 'expected one notebook to watch')
      const { watchNotebook } = await import('../notebook/live.ts')
      const look = lookOf(process.stderr)
      const watching = await watchNotebook(words.positionals[0] as string, {
        set,
        onRun: (result) => process.stderr.write(`${notebooks.summary(result, look)}\n`),
      })
      process.stdout.write(`${watching.url}\n`)
      await new Promise<void>((stopped) =>
        signal.addEventListener('abort', () => stopped(), { once: true }),
      )
      await watching.close()
      // Timers and servers that cells left behind are not waited for.
      return process.exit(EXIT.asHoped)
    }
    for (const file of words.positionals) {
      const result = await notebooks.run(file, { set, signal })
      const folder = words.text('out') ?? join(dirname(file), 'out')
      const wanted = { md: words.flag('md'), html: words.flag('html'), ipynb: words.flag('ipynb') }
      const written =
        wanted.md || wanted.html || wanted.ipynb
          ? await notebooks.write(result, { folder, ...wanted })
          : []
      print(
        { toJSON: () => result },
        words.flag('json'),
        [
          notebooks.summary(result, lookOf(process.stdout)),
          ...written.map((path) => `      ${path}`),
        ].join('\n'),
      )
      if (!result.ok) return EXIT.fellShort
    }
    return EXIT.asHoped
  },
}

export const kernel: Verb = {
  usage: 'touchstone kernel --install | CONNECTION_FILE',
  says: 'A Jupyter kernel over the same evaluator as the prompt; it needs the package zeromq. --install tells Jupyter of it; Jupyter itself starts it with a file.',
  options: {
    install: { type: 'boolean', says: "write the kernelspec into the user's Jupyter folder" },
    json: { ...JSON_OPTION, says: 'print the folder that --install wrote, as JSON' },
  },
  exits: { 0: 'done' },
  examples: ['kernel --install'],
  takes: { least: 0, most: 1 },
  async run(words) {
    const [file] = words.positionals
    if (words.flag('install') === (file !== undefined))
      throw new TouchstoneError('usage', `expected: ${this.usage}`)
    if (file === undefined) {
      const [{ installKernel }, { zeromq }] = await Promise.all([
        import('../repl/kernel/install.ts'),
        import('../repl/kernel/kernel.ts'),
      ])
      // Told now rather than when Jupyter starts it.
      await zeromq()
      const folder = await installKernel()
      print({ toJSON: () => ({ folder }) }, words.flag('json'), folder)
      return EXIT.asHoped
    }
    const [{ runKernel }, { scope }] = await Promise.all([
      import('../repl/kernel/kernel.ts'),
      import('./prompt.ts'),
    ])
    await runKernel(file, { scope: await scope(), version: ownVersion() })
    return EXIT.asHoped
  },
}
