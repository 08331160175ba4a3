import { join } from 'node:path'
import { expect, test } from 'vitest'
import { explain, type Revision, runSuite, type Subject, summarize } from '../../conformance/suite.ts'
import { serveAssignments } from '../../conformance/tested-hub.ts'

const TESTS = join(import.meta.dirname, '..', '..', 'conformance')
export const EXPECTED = join(TESTS, 'expected')
export const ONE_RUN_MS = 120_000

/** Uses the suite's own verdict, which also fails if an expected failure passed. */
export async function check(
  name: string,
  subject: Subject,
  revision: Revision,
  expected: string,
): Promise<void> {
  const findings = await runSuite(subject, revision, join(EXPECTED, `${expected}.yaml`))
  process.stdout.write(`conformance ${revision}, ${summarize(name, findings)}\n`)
  expect(new Set(findings.checks.map(({ scenario }) => scenario)).size).toBe(findings.scored)
  expect(findings.code, explain(findings)).toBe(0)
}

/** Tests what the hub says to servers: a hub for each scenario, which takes a minute in all. */
export function checkClient(revision: Revision): void {
  test(`the conformance suite for ${revision} passes what the hub says to servers`, {
    timeout: ONE_RUN_MS,
  }, async () => {
    await using assignments = await serveAssignments()
    const command = [process.execPath, join(TESTS, 'relay.ts'), assignments.url].join(' ')
    await check('the hub as a client', { kind: 'client', command }, revision, 'client')
  })
}
