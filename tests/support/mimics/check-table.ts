import { describe, expect, test } from 'vitest'
import type { Json } from './json.ts'
import type { Issued, Refusal } from './mimic.ts'

/** A request that a rule refuses. */
export interface Bad {
  what: string
  /** Fields that differ from the good request. */
  body: Json
  /** A part of the provider's message. */
  says: string
  issued?: Issued
  /** The status; default 400. */
  status?: number
  /** The check of a server that was started differently; default the mimic's own. */
  check?: Check
}

type Check = (body: Json, issued?: Issued, path?: string) => Refusal | undefined

interface Table {
  check: Check
  rules: readonly { what: string }[]
  /** Accepted requests; the bad ones are made from the first. */
  good: Record<string, Json>
  issued?: Issued
  bad: readonly Bad[]
}

/** Returns every string in an answer. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}

/**
 * Tests that a mimic accepts the good requests, and that each of its rules refuses a request with the
 * expected message.
 */
export function testChecks(name: string, { check, rules, good, issued, bad }: Table): void {
  const [plain] = Object.values(good)
  describe(name, () => {
    test.each(Object.entries(good))('accepts %s', (_, body) => {
      expect(check(body, issued)).toBeUndefined()
    })
    test.each(bad)(
      'refuses $what: $says',
      ({ what, body, says, status = 400, check: own = check, ...more }) => {
        const refusal = own({ ...plain, ...body }, more.issued ?? issued)
        expect(refusal).toMatchObject({ rule: what, status })
        expect(textsOf(refusal?.body).join('\n')).toContain(says)
      },
    )
    test('has no rule without an example', () => {
      expect(new Set(bad.map(({ what }) => what))).toEqual(new Set(rules.map(({ what }) => what)))
    })
  })
}
