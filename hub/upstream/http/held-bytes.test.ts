import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MOST_HELD } from '../bounds.ts'
import { HeldBytes, HeldShare } from './held-bytes.ts'

test('what came in parts is there as one, and takes less than twice its size', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 2_000 })), parts => {
      const total = { bytes: 0 }
      const bytes = new HeldBytes(new HeldShare(total))
      for (const part of parts) bytes.append(part)
      const whole = Buffer.concat(parts)
      expect(bytes.size).toBe(whole.length)
      expect(total.bytes).toBeLessThanOrEqual(Math.max(256, whole.length * 2))
      expect(bytes.take().equals(whole)).toBe(true)
      expect([bytes.size, total.bytes]).toEqual([0, 0])
    }),
  )
})

test('all of one server are bounded together', () => {
  const total = { bytes: 0 }
  const share = new HeldShare(total)
  const [first, second] = [new HeldBytes(share), new HeldBytes(new HeldShare(total))]
  first.append(Buffer.alloc(MOST_HELD - 10))
  expect(() => second.append(Buffer.alloc(11))).toThrow('its unfinished answers take over')
  share.end()
  expect(total.bytes).toBe(0)
  first.take()
  second.append(Buffer.alloc(11))
})
