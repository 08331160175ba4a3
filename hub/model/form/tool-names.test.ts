import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toSentName } from './tool-names.ts'

describe('toSentName', () => {
  it.each(['get_time', 'home__get-time', '_x', 'A'])('leaves %s', name => {
    expect(toSentName(name)).toBe(name)
  })

  it('takes any name into the alphabet, and keeps two names apart', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 90 }), fc.string({ maxLength: 90 }), (one, other) => {
        expect(toSentName(one)).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
        expect(toSentName(one) === toSentName(other)).toBe(one === other)
      }),
    )
    expect(toSentName('a.b')).not.toBe(toSentName('a/b'))
    expect(toSentName('7days')).toMatch(/^_7days_/)
  })
})
