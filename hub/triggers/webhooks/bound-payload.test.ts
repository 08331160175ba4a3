import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boundPayload } from './bound-payload.ts'

const LONGEST = 16 * 1024

test('what is short stays as it came', () => {
  const payload = { a: [1, { b: null, c: true }], 'd.e': 'text\nwith lines\tand tabs', f: 1.5 }
  expect(boundPayload(payload)).toEqual(payload)
})

test('control characters go, in keys too', () => {
  expect(boundPayload({ 'a\u0000b': 'c\u001b[31md' })).toEqual({ ab: 'c[31md' })
})

test('what is long is cut and says so', () => {
  const payload = boundPayload({ text: 'x'.repeat(100_000), list: Array.from({ length: 1_000 }, () => 'y') })
  expect(payload['text']).toMatch(/^x+… \(\d+ more characters\)$/)
  expect((payload['list'] as string[]).at(-1)).toMatch(/^… \(\d+ more\)$/)
  expect(JSON.stringify(payload).length).toBeLessThanOrEqual(LONGEST)
})

test('many fields and great depth are cut', () => {
  const wide = boundPayload(
    Object.fromEntries(Array.from({ length: 5_000 }, (_none, at) => [`k${at}`, 'v'.repeat(50)])),
  )
  expect(wide['…']).toMatch(/^\d+ more$/)
  const deep: unknown = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`)
  expect(JSON.stringify(boundPayload({ deep }))).toContain('too deep')
})

test('a tree that grows on every level is still bounded', () => {
  const grow = (depth: number): unknown =>
    depth === 0 ? 'z'.repeat(200) : Array.from({ length: 9 }, () => grow(depth - 1))
  expect(JSON.stringify(boundPayload({ tree: grow(4) })).length).toBeLessThanOrEqual(LONGEST)
})

test('any JSON is bounded', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 6 })), payload => {
      expect(JSON.stringify(boundPayload(payload)).length).toBeLessThanOrEqual(LONGEST)
    }),
  )
})
