import { describe, expect, test } from 'vitest'
import type { Json } from './json.ts'
import type { Issued, Refusal } from './mimic.ts'

/** A request that a rule refuses. */
export interface Bad {
  what: string
  /** What differs from the good request. */
  body: Json
  /** A part of the provider's words. */
  says: string
  issued?: Issued
  /** Default 400. */
  status?: number
  /** Default the mimic's own: one of a server that was started otherwise. */
  check?: Check
}

type Check = (body: Json, issued?: Issued, path?: string) => Refusal | undefined

interface Table {
  check: Check
  rules: readonly { what: string }[]
  /** Requests that are accepted; the first is what the bad ones are made from. */
  good: Record<string, Json>
  issued?: Issued
  bad: readonly Bad[]
}

/** Every text in an answer. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}

/** Shows that a mimic accepts what is good, that each of its rules refuses something, and how. */
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
