import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCallIds, toSentName } from './names.ts'

describe('createCallIds', () => {
  it.each([
    ['any', 'functions.get_time:0', 'functions.get_time:0'],
    ['any', '', 'call'],
    ['plain', 'toolu_01-A', 'toolu_01-A'],
    ['plain', 'functions.get_time:0', 'functions_get_time_0_0e00d1fe'],
    ['nine', 'a1B2c3D4e', 'a1B2c3D4e'],
  ] as const)('%s: %s becomes %s', (form, id, sent) => {
    expect(createCallIds(form)(id)).toBe(sent)
  })

  it.each([
    ['any', /./s],
    ['plain', /^[A-Za-z0-9_-]{1,40}$/],
    ['nine', /^[A-Za-z0-9]{9}$/],
  ] as const)('%s: each id fits, stands once, and does not depend on what follows', (form, pattern) => {
    const ids = fc.array(fc.oneof(fc.string({ maxLength: 80 }), fc.constantFrom('', 'a', 'a_2', 'call_1')))
    fc.assert(
      fc.property(ids, ids, (before, after) => {
        const sent = before.map(createCallIds(form))
        expect([...before, ...after].map(createCallIds(form)).slice(0, before.length)).toEqual(sent)
        expect(new Set(sent).size).toBe(before.length)
        expect(sent.filter(id => !pattern.test(id))).toEqual([])
      }),
    )
  })
})

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
