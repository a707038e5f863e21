/**
 * How a pace that many processes share is kept: one list of numbers for each account on the queue's
 * server, and the step that changes it. A step is one round trip, and the clock is the server's.
 *
 * Four buckets refill: requests, tokens, input, output. One that the provider's headers tell of is
 * fed: it holds what they say is left, less what was granted since that call. Where no headers
 * come, requests and tokens are paced by what refusals show:
 *
 * - Until the first, calls start one after the other: 10 a second, and 0.35 more with each.
 * - At a refusal the provider's bucket is empty. What it let through between two of them is what it
 *   refilled in that time, so that this is its rate, whatever burst it allows.
 * - From a little below that rate the pace grows with every answer, less where more is known. At
 *   once it falls to a fifth at most, since what nobody asked for was not let through either, and
 *   never below 5 calls a minute.
 *
 * Leave is given ahead: whoever asks is told how long to wait, and its turn is counted at once. It
 * holds nothing longer: what a process that was killed had been granted passes unused. When the
 * pace is cut, or first known, a new generation begins: leave not yet used is void, and all are
 * told.
 */

export type Step = 'acquire' | 'settle' | 'refuse'

/** What all processes hear: leave of earlier generations is void, all other begins later. */
export type Change = { account: string; generation: number; laterMs: number }

/** Where a change is told. */
export const CHANNEL = 'touchstone_pace'

export interface PaceServer {
  /** Make one step. Rejects when the server does not answer. */
  ask(account: string, numbers: readonly number[]): Promise<number[]>
  close(): Promise<void>
}

/**
 * The numbers of an account of which nothing is known, in Lua and SQL alike. From 1: limits,
 * levels, rates per ms, whether fed, and what was granted, of four buckets each; 21 when the levels
 * were so, before which nothing starts; 22 when it was born; 23 whether a limit ever refused; 24
 * since when refusals are counted, and what had been granted then: 25 requests, 26 tokens; 27 how
 * much the pace grows with an answer; 28 answers since it grew so; 29 the generation; 30 the last
 * start.
 */
const FRESH = '4,0,0,0, 4,0,0,0, 0.01,0,0,0, 0,0,0,0, 0,0,0,0, now, now, 0, 0, 0, 0, 0, 0, now, now'

/**
 * The step in Lua. `s` is the account, `now` the time in ms, `r` the answer: the wait in ms, the
 * generation, what was granted by kind, whether something changed for all, and how much later they
 * start. `a` is what was asked, as `numbersOf` puts it.
 */
const STEP = `
if now > s[21] then
  for i = 1, 4 do
    if s[8 + i] > 0 then
      s[4 + i] = math.min(s[i], s[4 + i] + (now - s[21]) * s[8 + i])
    end
  end
  s[21] = now
end
if a[1] == 0 then
  local wait = 0
  for i = 1, 4 do
    if s[8 + i] > 0 then
      wait = math.max(wait, (math.min(a[1 + i], s[i]) - s[4 + i]) / s[8 + i])
      s[4 + i] = s[4 + i] - a[1 + i]
    end
    s[16 + i] = s[16 + i] + a[1 + i]
  end
  if s[23] == 0 and s[13] == 0 then
    s[9] = s[9] + 0.000347
    s[1] = math.max(4, s[9] * 1000)
  end
  s[30] = math.max(s[30], s[21] + wait)
  r[1] = s[30] - now
else
  local known = 0
  if a[14] >= s[22] then
    known = 1
  end
  for i = 1, 4 do
    local back = a[1 + i] - a[5 + i]
    if known == 1 then
      s[16 + i] = s[16 + i] - back
      a[9 + i] = a[9 + i] - back
      if s[8 + i] > 0 and (s[12 + i] == 1 or a[14] == s[29]) then
        s[4 + i] = math.min(s[i], s[4 + i] + back)
      end
    end
  end
  local changed = 0
  if a[1] == 1 and a[6] > 0 and s[23] == 1 and a[14] == s[29] then
    s[28] = s[28] + 1
    for i = 1, 2 do
      if s[12 + i] == 0 and s[8 + i] > 0 then
        s[8 + i] = s[8 + i] * (1 + s[27])
        s[i] = math.max(1, s[8 + i] * 1000)
      end
    end
    if s[28] >= 200 then
      s[28] = 0
      s[27] = math.min(0.02, 2 * s[27])
    end
  end
  if a[1] == 2 and a[14] == s[29] then
    local sent = now - a[15]
    local elapsed = math.max(1, sent - s[24])
    local pace = s[9]
    for i = 1, 2 do
      if s[12 + i] == 0 and (i == 1 or s[15] + s[16] == 0) then
        local was = s[8 + i]
        local each = 1
        if i == 2 then
          each = s[18] / math.max(1, s[17])
        end
        if was == 0 then
          was = pace * each
        end
        local seen = was / 2
        if s[23] == 1 then
          seen = 0.95 * (math.max(0, a[9 + i] - s[24 + i]) + a[1 + i] / 2) / elapsed
          seen = math.max(was / 5, math.min(was, seen))
        end
        s[8 + i] = math.max(0.00008 * each, seen)
        s[i] = math.max(1, s[8 + i] * 1000)
        s[4 + i] = 0
      end
    end
    if s[23] == 0 then
      s[24] = sent
      s[25] = a[10]
      s[26] = a[11]
    else
      s[27] = math.max(0.0005, math.min(0.02, 0.1 / (1 + math.max(0, a[10] - s[25]))))
      if elapsed > 60000 then
        s[24] = sent - elapsed / 2
        s[25] = (a[10] + s[25]) / 2
        s[26] = (a[11] + s[26]) / 2
      end
    end
    s[23] = 1
    s[28] = 0
    s[30] = now
    changed = 1
  end
  for i = 1, 4 do
    if a[13 + 3 * i] > 0 then
      if s[12 + i] == 0 then
        s[30] = s[21]
        changed = 1
      end
      s[12 + i] = 1
      s[i] = a[13 + 3 * i]
      s[8 + i] = s[i] / a[15 + 3 * i]
      local after = s[16 + i]
      if known == 1 then
        after = math.max(0, s[16 + i] - a[9 + i])
      end
      s[4 + i] = math.min(s[i], a[14 + 3 * i] + s[8 + i] * a[15] - after) - 0.01 * s[i]
    end
  end
  if s[14] == 0 and s[15] + s[16] > 0 then
    s[10] = 0
  end
  if changed == 1 then
    s[29] = s[29] + 1
  end
  if a[1] == 2 then
    r[8] = math.max(0, now + a[28] - s[21])
    s[21] = s[21] + r[8]
    s[30] = s[30] + r[8]
  end
  if changed == 1 or r[8] > 0 then
    r[7] = 1
  end
end
r[2] = s[29]
for i = 1, 4 do
  r[2 + i] = s[16 + i]
end`

/** A script for Redis. Its key is the account; its answer is texts, since it cuts fractions off. */
export const LUA = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local a = {}
for i = 1, #ARGV do a[i] = tonumber(ARGV[i]) end
local kept = redis.call('GET', KEYS[1])
local s = kept and cmsgpack.unpack(kept) or {${FRESH}}
local r = {0, 0, 0, 0, 0, 0, 0, 0}
${STEP}
redis.call('SET', KEYS[1], cmsgpack.pack(s), 'PX', 3600000)
local texts = {}
for i = 1, 8 do texts[i] = string.format('%.17g', r[i]) end
if r[7] == 1 then redis.call('PUBLISH', '${CHANNEL}', KEYS[1] .. ' ' .. texts[2] .. ' ' .. texts[8]) end
return texts`

/** A function of one connection of PostgreSQL; no version of it stays behind. */
export const SQL = `
CREATE FUNCTION pg_temp.touchstone_pace(name text, a float8[]) RETURNS float8[] LANGUAGE plpgsql AS $$
DECLARE
  s float8[];
  r float8[] := array[0, 0, 0, 0, 0, 0, 0, 0];
  now float8;
  ${[...new Set(STEP.match(/(?<=local )\w+/g))].map((local) => `${local} float8;`).join(' ')}
BEGIN
  INSERT INTO touchstone.pace (account, numbers) VALUES (name, '{}') ON CONFLICT DO NOTHING;
  SELECT numbers INTO s FROM touchstone.pace WHERE account = name FOR UPDATE;
  now := extract(epoch FROM clock_timestamp()) * 1000;
  IF cardinality(s) = 0 THEN s := array[${FRESH}]; END IF;
  ${asSql(STEP)}
  UPDATE touchstone.pace SET numbers = s, at = clock_timestamp() WHERE account = name;
  IF r[7] = 1 THEN PERFORM pg_notify('${CHANNEL}', name || ' ' || r[2] || ' ' || r[8]); END IF;
  RETURN r;
END $$`

/** The few forms of Lua that the step uses, in PL/pgSQL: so it is written once. */
function asSql(lua: string): string {
  const open: string[] = []
  return lua
    .split('\n')
    .map((line) => {
      const text = line
        .replaceAll('==', '=')
        .replaceAll('math.min', 'least')
        .replaceAll('math.max', 'greatest')
      if (/^\s*(if|for) /.test(text)) open.push(/^\s*if/.test(text) ? 'if' : 'loop')
      if (/^\s*end$/.test(text)) return `end ${open.pop()};`
      return text
        .replace(/for i = (\d), (\d) do/, 'for i in $1..$2 loop')
        .replace(/^\s*(?:local )?(\w+(?:\[[^\]]+\])?) = (.*)$/, '$1 := $2;')
    })
    .join('\n')
}

/** A change as it was told. */
export function changeIn(message: string): Change {
  const [account = '', generation, laterMs] = message.split(' ')
  return { account, generation: Number(generation), laterMs: Number(laterMs) }
}
