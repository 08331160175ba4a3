import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HistoryContent } from '../../schemas/inbox.ts'
import { openTempStore } from '../../tests/support/temp-store.ts'
import { HubError } from '../core/errors.ts'
import { appendHistory } from './history.ts'
import { searchHistory } from './search.ts'
import { indexHistory } from './search-index.ts'
import { endSession } from './sessions.ts'
import { ensureMainThread, moveWindow } from './threads.ts'

const says = (text: string): HistoryContent => ({
  role: 'user',
  text: `[INBOX - 1 event]\nPending schedules: none.\n${text}`,
  items: [{ kind: 'message', origin: 'Message from alex in the conversation homelab', text, at: 0 }],
})
const gave = (name: string, text: string): HistoryContent => ({
  role: 'tool',
  callId: 'c',
  name,
  text,
  isError: false,
})
const calls = (name: string, args: object): HistoryContent => ({
  role: 'assistant',
  text: 'I look.',
  calls: [{ id: 'c', name, arguments: JSON.stringify(args) }],
})

/** Opens threads with parts that left their windows; the time of a row is 1000 times its seq. */
async function openPast() {
  const store = await openTempStore()
  const thread = await store.write(async tx => {
    const other = await ensureMainThread(tx, 'other', 1)
    await tx.updateTable('threads').set({ last_seq: 1 }).where('id', '=', other).execute()
    return ensureMainThread(tx, 'homelab', 1)
  })
  let last = 0
  const append = async (contents: HistoryContent[], cycle = 'cyc_1') => {
    const first = last + 1
    await store.write(async tx => {
      for (const content of contents) {
        const fenced = { thread, cycle, fence: 0 }
        await appendHistory(tx, fenced, last, 0, [content], ++last * 1000)
      }
      const busy = { last_seq: last, updated_at: last * 1000 }
      await tx.updateTable('threads').set(busy).where('id', '=', thread).execute()
    })
    return first
  }
  return {
    store,
    append,
    /** Moves these out of the window as a session. */
    async leave(contents: HistoryContent[], summary = '') {
      const first = await append(contents)
      await store.write(async tx => {
        const part = { thread_id: thread, first_seq: first, last_seq: last, ended_at: last * 1000 }
        const stands = { tokens: 7, summary, summary_by: 'extract', head: null }
        await endSession(tx, { ...part, ...stands, reason: 'compaction' })
        await moveWindow(tx, thread, last + 1)
      })
    },
    search: (query: string, rest: Partial<Parameters<typeof searchHistory>[1]> = {}) =>
      searchHistory(store.db, { agent: 'homelab', query, limit: 5, ...rest }),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

test('promise 8: messages, answers, calls with their arguments and results are found, in their sessions', async () => {
  await using past = await openPast()
  await past.leave(
    [
      says('Is the moonstone array healthy?'),
      calls('look_at', { target: 'moonstone' }),
      gave('look_at', 'degraded: sdq'),
    ],
    'The array was degraded.',
  )
  await past.leave([says('Thanks')], 'Nothing.')
  expect(await past.search('moonstone')).toEqual([
    {
      session: {
        thread: 'thr_homelab',
        number: 1,
        startedAt: 1000,
        endedAt: 3000,
        messages: 3,
        tokens: 7,
        reason: 'compaction',
        summary: 'The array was degraded.',
      },
      snippets: [
        { at: 1000, role: 'user', text: expect.stringContaining('Is the moonstone array healthy?') },
        { at: 2000, role: 'assistant', text: expect.stringContaining('{"target":"moonstone"}') },
      ],
    },
  ])
  expect((await past.search('SDQ'))[0]?.snippets).toMatchObject([{ role: 'tool' }])
  expect(await past.search('pending')).toEqual([])
  expect(await past.search('moonstone', { agent: 'other' })).toEqual([])
})

test('promise 8: what is in the window still is found too, also behind a stub, but not what asks', async () => {
  await using past = await openPast()
  await past.leave([says('old needle')])
  await past.append([says('new needle'), gave('look', 'a needle of a tool')])
  await past.store.write(tx => tx.updateTable('history').set({ form: 'stub' }).execute())
  await past.append([calls('search_history', { query: 'needle' })], 'cyc_2')
  await past.append([gave('search_history', 'found: needle'), says('where is the needle?')], 'cyc_2')
  const found = await past.search('needle', { exceptCycle: 'cyc_2' })
  expect(found.map(({ session }) => [session.number, session.reason, session.summary])).toEqual([
    [2, 'open', ''],
    [1, 'compaction', ''],
  ])
  expect(found[0]?.snippets.map(({ role }) => role)).toEqual(['user', 'tool'])
  expect((await past.search('needle'))[0]?.snippets).toHaveLength(3)
})

test('the best session comes first; where no row has all words, any will do; the limit holds', async () => {
  await using past = await openPast()
  await past.leave([says(`fan noise ${'and other things '.repeat(50)}`)])
  await past.leave([says('fan fan fan')])
  for (let count = 0; count < 6; count++) await past.leave([says(`nothing here ${count}`)])
  const numbers = async (query: string, limit = 5) =>
    (await past.search(query, { limit })).map(({ session }) => session.number)
  expect(await numbers('fan')).toEqual([2, 1])
  expect(await numbers('fan noise')).toEqual([1])
  expect(await numbers('fan missing')).toEqual([2, 1])
  expect(await numbers('nothing')).toHaveLength(5)
  expect(await numbers('nothing', 2)).toHaveLength(2)
  expect(await numbers('noth')).toHaveLength(5)
})

test('times bound what is found', async () => {
  await using past = await openPast()
  await past.leave([says('needle one')])
  await past.leave([says('needle two')])
  await past.append([says('needle three')])
  const numbers = async (since?: number, until?: number) =>
    (await past.search('needle', { since, until })).map(({ session }) => session.number).sort()
  expect(await numbers()).toEqual([1, 2, 3])
  expect(await numbers(2000)).toEqual([2, 3])
  expect(await numbers(undefined, 2000)).toEqual([1])
  expect(await numbers(1001, 2001)).toEqual([2])
})

test('indexed twice it is found once', async () => {
  await using past = await openPast()
  await past.leave([says('needle')])
  await past.store.write(tx => indexHistory(tx, 'thr_homelab', 1, 1))
  expect((await past.search('needle'))[0]?.snippets).toHaveLength(1)
})

test('whatever is asked, the index understands it or it is refused in words', async () => {
  await using past = await openPast()
  const odd = [
    '"',
    "'",
    '*',
    'a*b',
    'AND',
    'OR NOT',
    'NEAR(a b)',
    'text:x',
    '^a',
    '(',
    'a"b',
    '-',
    '+',
    '{a}',
    '\0a',
    '\ud800',
  ]
  await past.leave(odd.map(text => says(text)))
  const query = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.array(fc.constantFrom(...odd, 'needle', ' '), { maxLength: 8 }).map(parts => parts.join(' ')),
  )
  await fc.assert(
    fc.asyncProperty(query, async text => {
      try {
        await past.search(text)
      } catch (error) {
        expect(error).toBeInstanceOf(HubError)
        expect((error as HubError).message).toMatch(/^query: needs a word/)
      }
    }),
    { numRuns: 300 },
  )
})

test('a word that was written is found by itself', async () => {
  await using past = await openPast()
  const word = fc.stringMatching(/^[a-zA-Z0-9äöüßéèçñøåЖяβ漢字]{1,12}$/)
  let number = 0
  await fc.assert(
    fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 5 }), async words => {
      await past.leave([says(words.join('-'))])
      number++
      const found = await past.search(words.join(' '), { since: number * 1000, limit: 5 })
      expect(found.map(({ session }) => session.number)).toEqual([number])
    }),
    { numRuns: 60 },
  )
})
