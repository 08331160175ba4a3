import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HistoryContent } from '../../schemas/inbox.ts'
import type { HistoryEntry } from '../store/history.ts'
import {
  decideWindowStart,
  estimateTokens,
  hasOpenCalls,
  type Room,
  tokensOf,
  toMessages,
  toRoom,
} from './window.ts'

type Part = { size: number; calls: number; update: boolean }

/** A transcript of cycles: a batch, then steps with or without calls, whose results follow. */
function toTranscript(cycles: Part[][], first: number): HistoryEntry[] {
  let id = 0
  const filler = (size: number) => 'word '.repeat(size)
  const contents = cycles.flatMap(steps => [
    { role: 'user' as const, text: `[INBOX - 1 event]\n${filler(steps[0]?.size ?? 1)}`, items: [] },
    ...steps.flatMap(({ size, calls, update }): HistoryContent[] => {
      const asked = Array.from({ length: calls }, () => ({ id: `c${id++}`, name: 'look', arguments: '{}' }))
      return [
        { role: 'assistant', text: filler(size), calls: asked },
        ...asked.map(({ id: callId, name }) => ({
          role: 'tool' as const,
          callId,
          name,
          text: filler(size),
          isError: false,
        })),
        ...(update && calls > 0
          ? [{ role: 'user' as const, text: '[MID-CYCLE UPDATE - 1 event]\nx', items: [] }]
          : []),
      ]
    }),
  ])
  return contents.map((content, index) => ({ seq: first + index, content }))
}

const step = fc.record({
  size: fc.integer({ min: 1, max: 300 }),
  calls: fc.nat(3),
  update: fc.boolean(),
})
const transcript = fc
  .tuple(fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 }), fc.nat(50))
  .map(([cycles, first]) => toTranscript(cycles, first + 1))
const room = fc
  .integer({ min: 100, max: 4_000 })
  .map(limit => ({ limit, soft: limit * 0.7, hard: limit * 0.85 }))

const sizeOf = (entries: readonly HistoryEntry[]) =>
  entries.reduce((sum, { content }) => sum + tokensOf(content), 0)
const isBatch = ({ content }: HistoryEntry) => content.role === 'user' && content.text.startsWith('[INBOX')

function cut(entries: HistoryEntry[], by: Room, when: 'begin' | 'step'): HistoryEntry[] {
  const start = decideWindowStart(entries, by, when)
  return start === undefined ? entries : entries.filter(({ seq }) => seq >= start)
}

test('a window is left alone below its mark', () => {
  fc.assert(
    fc.property(transcript, room, fc.constantFrom('begin' as const, 'step' as const), (entries, by, when) => {
      const mark = when === 'begin' ? by.soft : by.hard
      fc.pre(sizeOf(entries) <= mark)
      expect(decideWindowStart(entries, by, when)).toBeUndefined()
    }),
  )
})

test('whatever is cut, the rest is the end in its order, begins a cycle, and has all its pairs', () => {
  fc.assert(
    fc.property(transcript, room, fc.constantFrom('begin' as const, 'step' as const), (entries, by, when) => {
      const rest = cut(entries, by, when)
      expect(rest).toEqual(entries.slice(entries.length - rest.length))
      if (rest[0]) expect(isBatch(rest[0])).toBe(true)
      const calls = rest.flatMap(({ content }) => (content.role === 'assistant' ? content.calls : []))
      const results = rest.flatMap(({ content }) => (content.role === 'tool' ? [content.callId] : []))
      expect(results).toEqual(calls.map(({ id }) => id))
    }),
  )
})

test('before a cycle it fits below the mark; within one it fits if the cycle itself does', () => {
  fc.assert(
    fc.property(transcript, room, (entries, by) => {
      expect(sizeOf(cut(entries, by, 'begin'))).toBeLessThanOrEqual(by.soft)
      const own = entries.slice(entries.findLastIndex(isBatch))
      const rest = cut(entries, by, 'step')
      expect(rest.slice(-own.length)).toEqual(own)
      expect(sizeOf(rest)).toBeLessThanOrEqual(Math.max(by.hard, sizeOf(own)))
    }),
  )
})

test('what was cut once is not cut again at once', () => {
  fc.assert(
    fc.property(transcript, room, (entries, by) => {
      const rest = cut(entries, by, 'begin')
      expect(decideWindowStart(rest, by, 'begin')).toBeUndefined()
    }),
  )
})

test('the room of a model: context less reply, reserve, prompt and tools', () => {
  const preamble = { system: 'x'.repeat(4_000), tools: [] }
  const of = toRoom({ context: 32_768, maxOutput: 4_096 }, preamble)
  expect(of.limit).toBe(32_768 - 4_096 - 1_024 - 1_000 - 2)
  expect(of.soft).toBeCloseTo(of.limit * 0.7)
  expect(of.hard).toBe(of.limit - 4_096)
  expect(toRoom({ context: 1_000_000, maxOutput: 4_096 }, preamble).hard).toBe(
    1_000_000 - 4_096 - 1_024 - 1_002 - 16_384,
  )
  expect(toRoom({ context: 2_048, maxOutput: 512 }, preamble).limit).toBe(0)
})

test('an estimate takes the larger of a fourth of the bytes and the words and digits', () => {
  expect(estimateTokens('')).toBe(0)
  expect(estimateTokens('a'.repeat(400))).toBe(100)
  expect(estimateTokens('127.0.0.1')).toBe(9)
  expect(estimateTokens('漢'.repeat(100))).toBe(75)
  const thinking = { by: 'm', text: 'b'.repeat(400) }
  expect(tokensOf({ role: 'assistant', text: '', calls: [], thinking })).toBe(104)
})

const user = { seq: 1, content: { role: 'user' as const, text: '[INBOX - 1 event]', items: [] } }
const asks = (...ids: string[]) => ({
  role: 'assistant' as const,
  text: '',
  calls: ids.map(id => ({ id, name: 'look', arguments: '{}' })),
})
const result = (callId: string) => ({
  role: 'tool' as const,
  callId,
  name: 'look',
  text: 'ok',
  isError: false,
})

test('a call without a result gets one that says so, beside its call', () => {
  const contents = [asks('a', 'b'), result('a')]
  const messages = toMessages([user, ...contents.map((content, index) => ({ seq: index + 2, content }))])
  expect(
    messages.map(message => (message.role === 'tool' ? [message.callId, message.isError] : message.role)),
  ).toEqual(['user', 'assistant', ['b', true], ['a', false]])
})

test('calls are open while the newest entry asks for them', () => {
  expect(hasOpenCalls([])).toBe(false)
  expect(hasOpenCalls([user, { seq: 2, content: asks('a') }])).toBe(true)
  expect(hasOpenCalls([user, { seq: 2, content: asks() }])).toBe(false)
  expect(hasOpenCalls([user, { seq: 2, content: asks('a') }, { seq: 3, content: result('a') }])).toBe(false)
})
