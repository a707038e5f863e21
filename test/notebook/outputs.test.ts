import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import {
  html,
  ipynb,
  markdown,
  type NotebookResult,
  run,
  summary,
  write,
} from '../../lib/notebook/index.ts'
import { proseHtml } from '../../lib/notebook/prose.ts'
import fc from '../property.ts'
import { temporaryFolder } from '../temporary.ts'
import { openPage, until, withoutChromium } from './browser.ts'

const ALLOWED =
  /^(h\d|p|a|em|strong|del|code|pre|span|ul|ol|li|blockquote|table|thead|tbody|tr|th|td|hr|br|img|input)$/
const TABLE =
  '<table>\n<thead>\n<tr>\n<th align="right">n</th>\n</tr>\n</thead>\n<tbody><tr>\n<td align="right">1</td>\n</tr>\n</tbody></table>\n'

const SMALL = fileURLToPath(new URL('../../fixtures/notebook/small.ts', import.meta.url))
const folder = temporaryFolder()
let result: NotebookResult
before(async () => {
  result = await run(SMALL)
})

function notebook(text: string): string {
  const file = join(temporaryFolder(), 'a.ts')
  writeFileSync(file, text)
  return file
}

test('a second run gives the same bytes in every format', async () => {
  const second = await run(SMALL)
  assert.deepEqual(markdown(second, 'small'), markdown(result, 'small'))
  assert.equal(ipynb(second), ipynb(result))
  assert.equal(await html(second), await html(result))
})

describe('Markdown', () => {
  test('has prose, code, output, and charts as files', () => {
    const { files } = markdown(result, 'small')
    assert.deepEqual([...files.keys()], ['small.md', 'small-1.svg'])
    const text = files.get('small.md') ?? ''
    assert.match(text, /^# Small \*things\*\n/)
    assert.match(text, /```ts\nconst later = .*\nlater\n```\n\n```text\n'a\/ab'\n```/)
    assert.match(text, /!\[three bars\]\(small-1\.svg\)/)
    assert.match(files.get('small-1.svg') ?? '', /^<svg.*<\/svg>\n$/)
  })
  test('fences are longer than any inside', async () => {
    const { files } = markdown(await run(notebook("// %%\nconsole.log('````')")), 'a')
    assert.match(files.get('a.md') ?? '', /`````text\n````\n`````/)
  })
  test('says what was set and what was not run', async () => {
    const failed = await run(
      notebook('// %% tags=["parameters"]\nconst n = 1\n// %%\nthrow new Error("x")\n// %%\n2'),
      { set: { n: '4' } },
    )
    const text = markdown(failed, 'a').files.get('a.md') ?? ''
    assert.match(text, /Set for this run: `n` = `4`/)
    assert.match(text, /```text\nError: x \(line 4\)\n```\n\n```ts\n2\n```\n\n\*Not run/)
    assert.match(summary(failed), /^failed {2}.* 1 of 3 cells, .*\n {2}Error: x \(line 4\)$/)
  })
})

test('files of charts that are gone are removed, others stay', async () => {
  writeFileSync(join(folder, 'small-7.svg'), '')
  writeFileSync(join(folder, 'smaller-7.svg'), '')
  const written = await write(result, { folder, md: true, html: true, ipynb: true })
  assert.deepEqual(
    written.map((path) => path.slice(folder.length + 1)),
    ['small.md', 'small-1.svg', 'small.html', 'small.ipynb'],
  )
  assert.equal(existsSync(join(folder, 'small-7.svg')), false)
  assert.equal(existsSync(join(folder, 'smaller-7.svg')), true)
})

describe('ipynb', () => {
  type Cell = {
    cell_type: string
    outputs?: { output_type: string; data?: Record<string, unknown> }[]
  }
  test('charts are Vega-Lite v5 and PNG, without SVG', () => {
    const { cells } = JSON.parse(ipynb(result)) as { cells: Cell[] }
    const data =
      cells.flatMap((cell) => cell.outputs ?? []).find((output) => output.data?.['image/png'])
        ?.data ?? {}
    assert.deepEqual(Object.keys(data).sort(), [
      'application/vnd.vegalite.v5+json',
      'image/png',
      'text/plain',
    ])
    assert.equal(
      (data['application/vnd.vegalite.v5+json'] as { $schema: string }).$schema,
      'https://vega.github.io/schema/vega-lite/v5.json',
    )
  })
  const skip = (() => {
    try {
      execFileSync('/usr/bin/python3', ['-c', 'import nbformat'], { stdio: 'ignore' })
      return false
    } catch {
      return 'nbformat is not installed (python3-nbformat)'
    }
  })()
  test('validates with nbformat, also when a cell failed', { skip }, async () => {
    const failed = await run(notebook('// %%\nconsole.log(1)\nthrow new Error("x")\n// %%\n2'))
    for (const [i, one] of [result, failed].entries()) {
      const file = join(folder, `valid-${i}.ipynb`)
      writeFileSync(file, ipynb(one))
      execFileSync('/usr/bin/python3', [
        '-W',
        'error',
        '-c',
        'import sys, nbformat; nbformat.validate(nbformat.read(sys.argv[1], 4))',
        file,
      ])
    }
  })
})

describe('the page', { skip: withoutChromium }, () => {
  for (const theme of ['light', 'dark'] as const) {
    test(`draws its chart, makes no request and complains of nothing, ${theme}`, async () => {
      const file = join(folder, 'page.html')
      writeFileSync(file, await html(result))
      const opened = await openPage(pathToFileURL(file).href, theme)
      try {
        await until(
          opened.page,
          'a drawn chart',
          () => document.querySelector<HTMLElement>('.chart')?.dataset['drawn'] !== undefined,
        )
        assert.equal(
          await opened.page.evaluate(
            () => document.querySelector<HTMLElement>('.chart')?.dataset['drawn'],
          ),
          theme,
        )
        assert.equal(
          await opened.page.evaluate(
            () => document.querySelectorAll('.chart svg .mark-rect path').length,
          ),
          3,
        )
        assert.deepEqual(opened.requests, [pathToFileURL(file).href])
        assert.deepEqual(opened.complaints, [])
        assert.ok(
          await opened.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
        )
      } finally {
        await opened.close()
      }
    })
  }
  test('what a notebook prints is text in the page, never tags', async () => {
    const page = await html(
      await run(
        notebook(
          '// %% [markdown]\n// <img src=x onerror=1>\n// %%\nconsole.log("</pre><script>1</script>")\n"<b>"',
        ),
      ),
    )
    assert.doesNotMatch(page, /<img|<script>1|<b>/)
  })
})

describe('prose', () => {
  const rows: [rule: string, markdown: string, html: string][] = [
    ['emphasis', '# A *b*', '<h1>A <em>b</em></h1>\n'],
    ['code is not emphasis', 'a `c*d*`', '<p>a <code>c*d*</code></p>\n'],
    ['a name with underscores', 'snake_case_name', '<p>snake_case_name</p>\n'],
    [
      'lists in lists',
      '- a\n  - b\n- c',
      '<ul>\n<li>a<ul>\n<li>b</li>\n</ul>\n</li>\n<li>c</li>\n</ul>\n',
    ],
    [
      'a list goes on behind a paragraph of an entry',
      '1. a\n\n   more\n2. b',
      '<ol>\n<li><p>a</p>\n<p>more</p>\n</li>\n<li><p>b</p>\n</li>\n</ol>\n',
    ],
    ['a link', '[a](https://b.c/)', '<p><a href="https://b.c/" rel="noreferrer">a</a></p>\n'],
    ['a link beside', '[a](b.md#c)', '<p><a href="b.md#c" rel="noreferrer">a</a></p>\n'],
    ['a quote', '> a', '<blockquote>\n<p>a</p>\n</blockquote>\n'],
    [
      'code of a language',
      '```ts\nlet a = 1\n```',
      '<pre><code class="language-ts"><span class="hljs-keyword">let</span> a = <span class="hljs-number">1</span>\n</code></pre>\n',
    ],
    ['code of none', '```\n<a>\n```', '<pre><code>&lt;a&gt;\n</code></pre>\n'],
    ['numbers stand right', '| n |\n|--:|\n| 1 |', TABLE],
    [
      'tags are text',
      'a <b onclick="x">b</b>',
      '<p>a &lt;b onclick=&quot;x&quot;&gt;b&lt;/b&gt;</p>\n',
    ],
    ['a block of tags is text', '<script>1</script>', '&lt;script&gt;1&lt;/script&gt;'],
    ['a link that runs is text', '[a](javascript:1)', '<p>[a](javascript:1)</p>\n'],
    ['so is one by reference', '[a][b]\n\n[b]: javascript:1', '<p>[a][b]</p>\n'],
    ['so is an autolink', '<javascript:1>', '<p>&lt;javascript:1&gt;</p>\n'],
    ['so is data', '[a](data:text/html,x)', '<p>[a](data:text/html,x)</p>\n'],
    [
      'a picture that would be a request is a link',
      '![a"b](https://x.y/p.png)',
      '<p><a href="https://x.y/p.png" rel="noreferrer">a&quot;b</a></p>\n',
    ],
    [
      'a picture that is in the text is a picture',
      '![a](data:image/png;base64,AA==)',
      '<p><img alt="a" src="data:image/png;base64,AA=="></p>\n',
    ],
  ]
  for (const [rule, text, expected] of rows)
    test(rule, async () => assert.equal(await proseHtml(text), expected))
  test('whatever a text holds, no tag in it is one in the page', async () => {
    const part = fc.constantFrom(
      '<img src=x onerror=a>',
      '<',
      '>',
      '"',
      "'",
      '`',
      '```\n',
      '](',
      '[a]',
      '![',
      '(javascript:a)',
      '\n',
      '\n\n',
      '| ',
      '|--|\n',
      '- ',
      '# ',
      '&lt;',
      '<!--',
      'on',
      '=',
      'a',
      ' ',
      '\\',
      '*',
      '<svg/onload=a>',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 20 }), async (parts) => {
        const page = await proseHtml(parts.join(''))
        for (const [tag, name, attributes = ''] of page.matchAll(/<([a-z!]\w*)([^>]*)>/gi)) {
          assert.match(name ?? '', ALLOWED, tag)
          for (const [, attribute] of attributes.matchAll(/\s([a-z-]+)=/gi))
            assert.match(attribute ?? '', /^(href|rel|class|align|alt|src|start|type)$/, tag)
          assert.doesNotMatch(attributes, /(href|src)="\s*(javascript|vbscript|data:text)/i)
        }
      }),
      { numRuns: 300 },
    )
  })
})
