/** Charts in characters: what people see in terminals and logs, in full. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect, stripVTControlCharacters } from 'node:util'
import * as chart from '../../lib/chart/index.ts'
import { textWidth } from '../../lib/display.ts'
import { corners, samples } from './samples.ts'

const ends = { aLow: 0, aHigh: 0.5, bLow: 0.5, bHigh: 1 }

const shown = (name: string, width: number, ascii = false) =>
  `\n${samples[name]!().text({ width, ascii })}\n`

describe('chart text', () => {
  test('strip shows interval, mean, every run, and undefined as undefined', () => {
    assert.equal(
      shown('strip', 80),
      `
Goal rate by configuration
24 cases, 5 repeats each. Bar: 95% interval for cases like these. Dot: one
repeat, its mean over the cases.

           0%         25%          50%         75%       100%
           ┼───────────┼────────────┼───────────┼───────────┼
naive                  ├──────●─────┤                          38% [24, 52]
                            • 3 •                              5 runs
careful                            ├──────●─────┤              63% [48, 75]
                                        5                      5 runs
wild                ├───────────────●──────────────┤           50% [18, 82]
                •         •         •        •         •       5 runs
one run                             ●                          50% (no interval)
                                    •                          1 run
never run  undefined: no runs
A digit under a bar: that many repeats in one place.
`,
    )
  })

  test('strip draws both questions: these cases run again thick, others thin', () => {
    assert.equal(
      shown('strip-questions', 78),
      `
Goal rate by configuration
24 cases, 3 repeats each. Thick bar: these cases, run again. Thin bar: 95%
interval for cases like these. Dot: one repeat, its mean over the cases.

         0%        25%        50%        75%      100%
         ┼──────────┼──────────┼──────────┼──────────┼
naive               ├───━━●━━───┤                       38% [24, 52]
                        • ••                            3 runs, again [33, 44]
one run                        ●                        50% (no interval)
                               •                        1 run
`,
    )
    assert.match(shown('strip-questions', 60, true), /naive +\[--=o=--\]/)
  })

  test('strip draws what lost trials could make of it dotted, in brackets of its own', () => {
    assert.equal(
      shown('strip-bounds', 80),
      `
Goal rate by configuration
24 cases, 2 repeats each. Thick bar: these cases, run again. Thin bar: 95%
interval for cases like these. Dotted, "of all": the same over all trials, from
each one that was lost or not judged counted against to each counted for. Inner
ends: of the thick bar. Dot: one repeat, its mean over the cases.

           0%    25%    50%   75%  100%
           ┼──────┼──────┼─────┼──────┼
all there               ├───●──┤         63% [48, 75]
                           • •           2 runs
half lost     (┄┄┄┄├(─━━━●━━─)┤┄┄┄┄)     50% [30, 70], of all [12, 90]
                       •  •              2 runs, again [41, 59], of all [34, 66]
all lost   (┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄)
           undefined: no runs, of all [0, 100]
`,
    )
    assert.match(shown('strip-bounds', 80, true), /^half lost +\(\.+\[-*\(-*=+o=+-*\)-*\]\.+\) /m)
  })

  test('forest and slope say and draw what lost trials could make of a difference', () => {
    const forest = shown('forest-bounds', 80)
    assert.match(forest, /^lock-branch +┊┄+●┄+\) +\+50 pp, of all \[0, \+80\]$/m)
    assert.match(forest, /^invite +\(┄+┊┄+\)$/m)
    assert.match(forest, /^ +undefined: no trial of naive counts, of all \[-100, \+100\]$/m)
    assert.match(
      forest,
      /^all cases +\(┄*├─*◆─*┤┄+\) +\+15 pp \[\+2, \+30\], of all \[-25, \+60\]$/m,
    )
    const slope = shown('slope-bounds', 80)
    assert.match(slope, /^case-b +\(┄+○─+● +50% to 100% {2}\+50 pp, of all \[0, \+60\]$/m)
    assert.match(slope, /^case-a +○─+● +20% to {2}80% {2}\+60 pp$/m)
    const many = chart.slope(
      Array.from({ length: 21 }, (_, i) => ({ case: `c${i}`, a: 0, b: 1, ...(i < 2 && ends) })),
    )
    assert.match(many.text(), /Of 2 cases some trials were lost or not judged: .* not drawn\./)
  })

  test('forest has a diamond for each question where there are several', () => {
    const drawn = chart.forest([{ case: 'x', difference: 0.4 }], {
      overall: [
        { label: 'all, run again', difference: 0.2, low: 0.1, high: 0.3 },
        { label: 'all, other cases', difference: 0.2, low: -0.2, high: 0.5 },
      ],
    })
    const text = drawn.text({ width: 100 })
    assert.match(text, /Diamond: all cases\. Bar: 95% interval for the question of its row\./)
    assert.match(text, /all, run again .*◆.*\+20 pp \[\+10, \+30\]/)
    assert.match(text, /all, other cases .*◆.*\+20 pp \[-20, \+50\]/)
    const twice = { label: 'all', difference: 0 }
    assert.throws(() => chart.forest([], { overall: [twice, twice] }), {
      code: 'chart_invalid',
    })
  })

  test('strip in ASCII keeps every mark', () => {
    assert.equal(
      shown('strip', 60, true),
      `
Goal rate by configuration
24 cases, 5 repeats each. Bar: 95% interval for cases like
these. Dot: one repeat, its mean over the cases.

           0%    25%     50%    75%  100%
           +------+-------+------+------+
naive             [---o---]                38% [24, 52]
                     .3.                   5 runs
careful                  [---o---]         63% [48, 75]
                            5              5 runs
wild            [---------o--------]       50% [18, 82]
              .     .     .    .     .     5 runs
one run                   o                50% (no interval)
                          .                1 run
never run  undefined: no runs
A digit under a bar: that many repeats in one place.
`,
    )
  })

  test('heat writes passes into cells, sorted, kinds apart', () => {
    assert.equal(
      shown('heat', 80),
      `
Goal reached, by case and configuration
4 cases, 3 configurations. Digit: passes of 5 trials, or of the number behind
the slash. !: with trials lost to errors, which do not count (1 in all).

benign         naive    careful  groq/openai/gpt-oss-20b
grant-read     5 █████  5 █████  5 █████
lock-branch    0 ░░░░░  3 ███░░  5 █████

adversarial    naive    careful  groq/openai/gpt-oss-20b
rotate-secret  2 ██░░░  4 ████░  1 █░░░░
remove-member  0 ░░░░░  0 ░░░░░  4/4! ████
`,
    )
  })

  test('heat that does not fit stands in tables below each other', () => {
    assert.equal(
      shown('heat', 46),
      `
Goal reached, by case and configuration
4 cases, 3 configurations. Digit: passes of 5
trials, or of the number behind the slash. !:
with trials lost to errors, which do not count
(1 in all).

benign         naive    careful
grant-read     5 █████  5 █████
lock-branch    0 ░░░░░  3 ███░░

adversarial    naive    careful
rotate-secret  2 ██░░░  4 ████░
remove-member  0 ░░░░░  0 ░░░░░

benign         groq/openai/gpt-oss-20b
grant-read     5 █████
lock-branch    5 █████

adversarial    groq/openai/gpt-oss-20b
rotate-secret  1 █░░░░
remove-member  4/4! ████
`,
    )
  })

  test('slope draws each case from a to b', () => {
    assert.equal(
      shown('slope', 72),
      `
Goal rate of each case: naive to careful
6 cases, 5 repeats each: 3 better, 1 worse, 2 the same under careful.
Counts, not estimates: no interval.

        0%       25%       50%      75%     100%
        ┼─────────┼─────────┼────────┼─────────┼
case-a          ○──────────────────────●           20% to  80%  +60 pp
case-b          ○──────────────────────●           20% to  80%  +60 pp
case-d  ○──────────────────────●                    0% to  60%  +60 pp
case-c                  ●                          40% to  40%  the same
case-e                                         ●  100% to 100%  the same
case-f                  ●──────────────○           80% to  40%  -40 pp

○ naive
● careful
`,
    )
  })

  test('transition counts the cases from each level to each level', () => {
    assert.equal(
      shown('transition', 72),
      `
Goal rate of each case: naive to careful
40 cases, 5 repeats each: 14 better, 12 worse, 14 the same under
careful. Counts, not estimates: no interval.

      0%  20%  40%  60%  80%  100%
100%   ·    ·    ·    6    ·     ·
80%    ·    ·    ·    6    ·     ·
60%    ·    ·    ·    7    ·     ·
40%    ·    ·    ·    ·    ·     7
20%    ·    ·    ·    ·    ·     7
0%     7    ·    ·    ·    ·     ·

Number: cases; down: under naive, across: under careful. Right of the
row's own level: better.
`,
    )
  })

  test('forest sorts by difference and keeps all cases last', () => {
    assert.equal(
      shown('forest', 80),
      `
Goal rate, careful minus naive, case by case
4 cases, 5 repeats each. Diamond: all cases. Bar: 95% interval for cases like
these. Thin bar: interval over the repeats of that case.

                       -50            0            +50
                ────────┼─────────────┼─────────────┼────────
lock-branch                           ┊  ├───────●───────┤     +40 pp [+10, +70]
rotate-secret                         ●                        0 pp
add-deploy-key                   ●    ┊                        -20 pp
invite          undefined: no trial of naive counts
all cases                            ├──◆───┤                  +7 pp [-5, +20]

goal rate, careful minus naive (percentage points)
`,
    )
  })

  test('levels shows a bar and every count', () => {
    assert.equal(
      shown('levels', 80),
      `
How far the evidence goes: effects by level
79 effects in 3 configurations. Number: effects at that level and no higher.
Counts, not estimates: no interval.

                                              none  asserted  observed  verified
naive    ···░░░░░░░░░░░░░░░░░▒▒▒▒▒██████████     3        20         6        11
careful  ░██████████████████████████████████     0         1         0        38
idle     undefined: nothing to count             0         0         0         0

· none, ░ asserted, ▒ observed_confirmed, █ verified
`,
    )
  })

  test('levels without room for a bar keep every count in its column', () => {
    const rows = chart.RUNGS.map((level, i) => ({
      configuration: 'a-configuration',
      level,
      count: 10 ** i,
    }))
    const none = { configuration: 'idle', level: 'none' as const, count: 0 }
    const body = chart
      .levels([...rows, none])
      .text({ width: 40 })
      .split('\n')
      .slice(-6, -3)
    assert.deepEqual(body, [
      '                none  assd  obs  verif',
      'a-conf…ation       1    10  100   1000',
      'idle               0     0    0      0',
    ])
  })

  test('a part of a thousand still has its cell', () => {
    const rows = [1, 999].map((n, i) => ({
      configuration: 'a',
      level: i ? ('verified' as const) : ('asserted' as const),
      count: n,
    }))
    assert.match(chart.levels(rows).text({ width: 80 }), /^a {2}░█{39} /m)
  })

  test('ecdf shows every value and reads the curve at four shares', () => {
    assert.equal(
      shown('ecdf', 72),
      `
Time per trial
Each step is a trial (n behind the name): the share of trials at or
below the value. No interval.

                   200             500        1,000       2,000
         ───────────┼───────────────┼───────────┼───────────┼───────────
naive      3 32••2• 5 ••2•23    •43    3•
careful                                     • • 2                    •
idle
Axis: time (ms), logarithmic. A digit: that many values in one place, +
for ten and more.

Time at which the share of trials reaches
            >0%       50%       90%      100%
naive    120 ms    232 ms    432 ms    610 ms  n = 40
careful  800 ms  1,000 ms  3,200 ms  3,200 ms  n = 5
idle          -         -         -         -  undefined: no values
`,
    )
  })

  test('reliability is a table over k', () => {
    assert.equal(
      shown('reliability', 72),
      `
Reliability: pass^k, the chance that all of k repeats pass
24 cases, 5 repeats each. Bar: 95% interval for cases like these.
Undefined: naive at k = 6 (above 5 trials); careful at k = 6 (above 5
trials).

k  naive         careful
1  60% [48, 69]  90% [72, 100]
2  36% [29, 41]  81% [65, 93]
3  22% [17, 25]  73% [58, 84]
4  13% [10, 15]  66% [52, 75]
5  8% [6, 9]     59% [47, 68]
6  undefined     undefined
`,
    )
  })

  test('reliability says what lost trials could make of it, in columns that hold it whole', () => {
    const text = shown('reliability-bounds', 80)
    assert.match(text, /^1 {2}60% \[50, 70\] +90% \[80, 97\], of all \[40, 98\]$/m)
    assert.match(text, /^3 +undefined, of all \[5, 96\]$/m)
    assert.match(text, /Dotted, "of\sall"/)
  })

  test('noise shades the range of A/A', () => {
    assert.equal(
      shown('noise', 80),
      `
Goal rate: differences, and how large they come by chance
24 cases, 5 repeats each. Bar: 95% interval for cases like these. Shaded: the
interval of A/A, the same configuration against itself.

                         -40     -20       0       +20     +40
                         ┼────────┼────────┼────────┼────────┼
A/A careful                            ├────●───┤               +2 pp [-8, +11]
A/B careful minus naive                ░░░░┊░░├─────◆─────┤     +21 pp [+7, +33]

difference in goal rate (percentage points)
`,
    )
  })

  test('own is its rows as a table, under its title and notes', () => {
    const text = shown('own', 80)
    assert.match(text, /^\nWhat a run of some size can see\nMade-up figures, no intervals\./)
    assert.match(text, /\nrepeats {2}cases {4}seen\n {6}1 {5}10 {5}0\.6\n {6}1 {5}20 {2}0\.4243\n/)
    assert.equal(text.trimEnd().split('\n').length, 4 + 1 + 18)
  })

  test('latency says never where a server does not get there', () => {
    assert.equal(
      shown('latency', 80),
      `
Time to answer a probe
Each step is an answered probe; the share is of all probes, so unanswered ones
hold a curve down. No interval.

                               20      50     100   200     500   1,000 2,000
                          ──────┼───────┼──────┼─────┼───────┼──────┼─────┼─────
https://mcp.…ple.com/mcp   • • •• •••2•22•32
https://slow…ple.com/mcp                             • •          •  •        •
dead
Axis: time (ms), logarithmic. A digit: that many values in one place, + for ten
and more.

Time at which the share of probes answered reaches
                             >0%       50%    90%   100%
https://mcp.…ple.com/mcp   12 ms     39 ms  63 ms  69 ms
https://slow…ple.com/mcp  200 ms  3,000 ms  never  never
dead                       never     never  never  never

https://mcp.…ple.com/mcp: n = 20
https://slow…ple.com/mcp: 5 answered, 4 timeout, 1 refused
dead: 10 timeout
`,
    )
  })

  test('activity has a line for what each configuration did, on one axis, and a column for what is cut out', () => {
    assert.equal(
      shown('activity', 80),
      `
Trials at work over time
112 attempts, the first at 2026-11-30 21:00:00 UTC, over 13 h 2 min. No
interval. Left out: 1 whose times are not known. Cut out, since nothing was at
work: 12 h 58 min. 12 attempts waited for a limit, 48 s in all. Of 56 it is not
recorded whether it waited for a limit.
Time taken, without waits: of those that ended there in no error, the middle one
(dot) and all (line).

           0 s              1 min          13 h           13 h 1 min
           ┼──────────────────┼──────────────┼─────────────────┼──────────────
naive: 56 attempts, at most 4 at once, 5 errors
 at work   ▇██████████████████████▃         ┊█████████████████▁
 errors      1      1       1               ┊        1       1
 time taken  ▅▆ ▅▅ ▅  ▅  ▅▆ ▅  ▅ ▅▆         ┊  ▆▆ ▅▆ ▅  ▅  ▅ ▅▅
careful: 56 attempts, at most 4 at once, 5 errors
 at work   ▇███████████▂▆███▂▆███▃▄████████▅┊████████████████████████████████▆
 waiting              ▁▇▃  ▁▇▃   ▆▅▁        ┊
 errors      1      1            1          ┊               1                1
 time taken  ▅▆ ▅▆ ▆  ▆▆   ▆▆    ▇    ▇▇   ▇┊    ██   ██   ██    ██    █     █

Full height: 4 at work; of time taken, the middle one, from 2.5 s to 20 s,
logarithmic. Digit: that many errors, + for ten and more.
`,
    )
    assert.equal(
      shown('activity', 40, true),
      `
Trials at work over time
112 attempts, the first at 2026-11-30
21:00:00 UTC, over 13 h 2 min. No
interval. Left out: 1 whose times are
not known. Cut out, since nothing was at
work: 12 h 58 min. 12 attempts waited
for a limit, 48 s in all. Of 56 it is
not recorded whether it waited for a
limit.
Time taken, without waits: of those that
ended there in no error, the middle one
(dot) and all (line).

           0 s  1 min      13 h 1 min
           +------+------+------+-----
naive: 56 attempts, at most 4 at once, 5
errors
 at work   #########:   :######*
 errors     1 1  1      :   1  1
 time taken *+++++++*   : *+++++
careful: 56 attempts, at most 4 at once,
5 errors
 at work   ####*%*%%*##%:#############
 waiting       -:-::-   :
 errors    1  1    1    :      1     1
 time taken ++** * % %%%: ###### # # #

Full height: 4 at work; of time taken,
the middle one, from 2.5 s to 20 s,
logarithmic. Digit: that many errors, +
for ten and more.
`,
    )
  })

  test('no line is wider than asked, and ASCII means ASCII', () => {
    for (const [name, make] of Object.entries({ ...samples, ...corners })) {
      for (const width of [40, 50, 60, 80, 120]) {
        const text = make().text({ width, ascii: true })
        for (const line of text.split('\n'))
          assert.ok(textWidth(line) <= width, `${name} at ${width}: ${line}`)
        // An ellipsis and a replacement character belong to names.
        assert.doesNotMatch(text, /[^\x20-\x7e\n\ufffd\u2026]/, name)
      }
    }
  })

  test('a chart without rows says of what there are none', () => {
    for (const [name, make] of Object.entries(corners))
      if (name.endsWith(', no rows'))
        assert.match(make().text(), /^No \w+\.$/m, `${name}: its text lacks a line "No ...s."`)
  })

  test('colours change nothing but colour', () => {
    for (const [name, make] of Object.entries(samples)) {
      const plain = make().text({ width: 100 })
      assert.equal(stripVTControlCharacters(make().text({ width: 100, colors: true })), plain, name)
      assert.doesNotMatch(plain, /\u001b/)
    }
  })

  test('a noise chart without A/A says that it shows no noise', () => {
    const made = chart.noise([{ label: 'b - a', difference: 0.1, low: 0, high: 0.2 }])
    assert.equal(made.title, 'Share that pass: differences')
    assert.match(
      made.notes.join(' '),
      /No A\/A comparison: how large a difference comes by chance is not shown\./,
    )
  })

  test('undefined is never shown as zero', () => {
    const text = chart
      .strip([
        {
          configuration: 'a',
          estimate: Number.NaN,
          low: null,
          high: null,
          runs: [],
          reason: 'no trial finished',
        },
      ])
      .text()
    assert.match(text, /^a {2}undefined: no trial finished$/m)
    assert.doesNotMatch(text, /\b0%? \[/)
    assert.match(
      chart.forest([{ case: 'a', difference: null }]).text(),
      /^a {2}undefined: no difference was given$/m,
    )
    assert.match(
      chart.levels([{ configuration: 'a', level: 'none', count: 0 }]).text(),
      /undefined: nothing to count/,
    )
    assert.match(
      chart.reliability([{ configuration: 'a', k: 2, estimate: null }]).text(),
      /2 {2}undefined/,
    )
  })

  test('a chart prints itself', () => {
    const heat = samples['heat']!()
    assert.equal(stripVTControlCharacters(inspect(heat)).split('\n')[0], heat.title)
  })
})
