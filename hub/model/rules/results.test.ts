import { describe, expect, it } from 'vitest'
import { wordResult } from './results.ts'

const outcome = (text: string, more = {}) => ({ name: 'get_x', arguments: {}, text, isError: false, ...more })

describe('wordResult', () => {
  it('keeps a readable text as it is', () => {
    expect(wordResult(outcome('CPU 12 %\n'), 'UTC')).toBe('CPU 12 %')
  })

  it('turns JSON and structured content into lines', () => {
    expect(wordResult(outcome('{"cpu": {"percent": 5}, "ok": false}'), 'UTC')).toBe(
      '- cpu: percent 5 %\n- ok: no',
    )
    expect(wordResult(outcome('', { structured: { a: 1, b: 'c' } }), 'UTC')).toBe('- a: 1\n- b: c')
    expect(wordResult(outcome(''), 'UTC')).toBe('Done: `get_x` ran and had nothing to say.')
  })

  it('cuts a long text with a count', () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n')
    expect(wordResult(outcome(lines), 'UTC')).toMatch(/line 59\n… and 40 more lines$/)
    expect(wordResult(outcome('x'.repeat(5000)), 'UTC')).toMatch(/… \(1500 more characters\)$/)
  })

  it.each([
    [
      'connect ECONNREFUSED 10.0.0.5:8080',
      /did not work: connect ECONNREFUSED 10\.0\.0\.5:8080\. It may be down/,
    ],
    ['invalid arguments: limit must be a number', /`\/tools get_x` shows what it takes/],
    ['JELLYFIN_URL is not configured', /Once that is set up/],
    ['outcome unknown', /Look whether it took effect/],
    ['', /it gave no reason\. Try again/],
    ['{"error":"boom"}', /did not work: - error: boom\./],
  ])('says kindly what to do about: %s', (text, expected) => {
    expect(wordResult(outcome(text, { isError: true }), 'UTC')).toMatch(expected)
  })

  it('tells of an approval', () => {
    expect(wordResult(outcome('waiting: approval apr_1'), 'UTC')).toBe(
      "`get_x` waits for a person's yes (approval apr_1). It runs once that is given.",
    )
  })
})
