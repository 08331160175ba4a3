import { describe, expect, test } from 'vitest'
import type { Message } from './conversation.ts'
import { atEnd, DRAWN, drawn, earlier, follow, hasEarlier, later, WHOLE, within } from './log-window.ts'

const messages = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => ({ seq: from + i }) as Message)
const span = (list: Message[]) => [list[0]?.seq, list[list.length - 1]?.seq, list.length]

describe('log window', () => {
  test('a short conversation is drawn whole, as the same array', () => {
    const all = messages(1, 300)
    expect(drawn(all, WHOLE)).toBe(all)
    expect(follow(all, WHOLE)).toBe(WHOLE)
    expect(hasEarlier(all, WHOLE)).toBe(false)
    expect(drawn([], WHOLE)).toEqual([])
  })

  test('at the end, what is old leaves in strides', () => {
    const all = messages(1, DRAWN + 101)
    const window = follow(all, WHOLE)
    expect(span(drawn(all, window))).toEqual([102, DRAWN + 101, DRAWN])
    expect(hasEarlier(all, window)).toBe(true)
    expect(follow([...all, ...messages(DRAWN + 102, DRAWN + 150)], window)).toBe(window)
  })

  test('going back through 10,000 never draws more than the limit, and the way forward ends at the end', () => {
    const all = messages(1, 10_000)
    let window = atEnd(all)
    for (let i = 0; i < 60; i++) {
      window = earlier(all, window)
      expect(drawn(all, window).length).toBeLessThanOrEqual(DRAWN)
    }
    expect(span(drawn(all, window))).toEqual([1, DRAWN, DRAWN])
    for (let i = 0; i < 60; i++) {
      window = later(all, window)
      expect(drawn(all, window).length).toBeLessThanOrEqual(DRAWN)
    }
    expect(window.to).toBeNull()
    expect(span(drawn(all, window))).toEqual([9_501, 10_000, DRAWN])
  })

  test('one step back keeps a part of what was there', () => {
    const all = messages(1, 1_000)
    const window = earlier(all, atEnd(all))
    expect(span(drawn(all, window))).toEqual([301, 800, DRAWN])
  })

  test('what lies behind a history that began anew draws all of the new one', () => {
    const window = { from: 300, to: 800 }
    expect(within(messages(1, 2), window)).toBe(WHOLE)
    expect(within([], window)).toBe(WHOLE)
    expect(within(messages(1, 900), window)).toBe(window)
    expect(within([], WHOLE)).toBe(WHOLE)
  })
})
