/** `touchstone open`: the page of a run that has ended, made anew from its log, in the browser. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { pageFolder } from '../process/temporary.ts'
import { openRun, runNames, unsoundLine } from './finished.ts'
import { EXIT, JSON_OPTION, print, type Verb } from './verb/verb.ts'

/** What opens a file in the browser that a person uses. */
const OPENERS: { [platform: string]: readonly string[] } = {
  darwin: ['open'],
  win32: ['explorer.exe'],
}

export const openPage: Verb = {
  usage: 'touchstone open [RUN [EARLIER_RUN]] [options]',
  says: 'Opens the page of a run: from the verdict to kinds, cases, trials side by side, and one trial with its reasons, conversation, calls and evidence. Default: the newest run. With an earlier run the configurations of both stand beside each other, on the cases that both have. The page is made from the log each time; the folder of the run is not touched. Without --to it stands among the temporary files, and is removed by a later open after a day.',
  options: {
    to: {
      type: 'string',
      value: 'FILE',
      says: 'write the page there, such as page.html, and open no browser. Details of a large run stand in a folder beside it',
    },
    json: { ...JSON_OPTION, says: 'print the path of the page, as JSON' },
  },
  exits: { 0: 'the page is written; off a terminal nothing is opened' },
  examples: ['open', 'open checked --to page.html'],
  takes: { least: 0, most: 2 },
  offers: (before) => (before.length < 2 ? runNames() : []),
  async run(words) {
    const [first, second] = words.positionals
    const run = await openRun(first)
    const unsound = unsoundLine(run)
    if (unsound) process.stderr.write(`${unsound}\n`)
    const page = await run.page(second === undefined ? {} : { against: await openRun(second) })
    const to = words.text('to')
    const file = await page.save(to ?? join(pageFolder(), 'report.html'))
    print({ toJSON: () => ({ page: file }) }, words.flag('json'), `Page: ${file}`)
    if (to === undefined && process.stdout.isTTY) browse(file)
    return EXIT.asHoped
  },
}

/** Where no browser can be started the path stands on the terminal. */
function browse(file: string): void {
  const [command = 'xdg-open', ...words] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(command, [...words, file], { detached: true, stdio: 'ignore' })
  child.on('error', () => {})
  child.unref()
}
