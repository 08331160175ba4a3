import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ERAS, type Era, serveFixture } from '../conformance/fixture/http.ts'
import { startForwarder } from '../conformance/forwarder.ts'
import { installSuite, REVISIONS, type Revision, runIssuerSuite } from '../conformance/suite.ts'
import { untilReady } from '../support/downstream.ts'
import { OAuthRequests } from '../support/oauth-requests.ts'
import { untilNoChildren } from '../support/processes.ts'
import { startTestHub } from '../support/test-hub.ts'
import { check, checkClient, EXPECTED, ONE_RUN_MS } from './setup/conformance.ts'
import { freePort } from './setup/scratch.ts'

const TESTS = join(import.meta.dirname, '..', 'conformance')

beforeAll(() => installSuite(), 120_000)
afterAll(() => untilNoChildren())

test('says of each failure that is expected why nobody here can mend it', () => {
  for (const file of readdirSync(EXPECTED)) {
    const lines = readFileSync(join(EXPECTED, file), 'utf8').split('\n')
    for (const line of lines.filter(one => one.trim().startsWith('- '))) {
      expect(line, file).toMatch(/^ {2}- \S+ # \w+.{10,}$/)
    }
  }
})

describe.each(REVISIONS)('the conformance suite for %s', revision => {
  test('passes the fixture by itself, or it would prove nothing of a hub', {
    timeout: ONE_RUN_MS,
  }, async () => {
    await using fixture = await serveFixture('both')
    await check('the fixture alone', { kind: 'server', url: fixture.url }, revision, 'fixture')
  })

  test('passes the hub', { timeout: ONE_RUN_MS }, async () => {
    await using hub = await startTestHub()
    await using door = await startForwarder(hub)
    await check('the hub alone', { kind: 'server', url: door.url }, revision, 'hub')
  })

  test.each(ERAS)('passes the hub with a %s server below on stdio', { timeout: ONE_RUN_MS }, async era => {
    const args = [join(TESTS, 'fixture', 'stdio.ts'), era]
    await checkBehind(`${era} fixture on stdio`, { command: process.execPath, args }, revision, era)
  })

  test.each(ERAS)('passes the hub with a %s server below over HTTP', { timeout: ONE_RUN_MS }, async era => {
    await using fixture = await serveFixture(era)
    await checkBehind(`${era} fixture over HTTP`, { url: fixture.url }, revision, era)
  })
})

checkClient('2026-07-28')

test('the conformance suite passes the hub as an authorization server', { timeout: ONE_RUN_MS }, async () => {
  await using hub = await startTestHub({ config: 'authorization: { issuer: own }\n' })
  const oauth = new OAuthRequests(hub)
  const port = await freePort()
  const redirect = `http://127.0.0.1:${port}/callback`
  const client = await oauth.register({ redirect_uris: [redirect] })
  const subject = { url: hub.url, resource: `${hub.url}/mcp`, client, port }
  const { code, output } = await runIssuerSuite(subject, async url => {
    const browser = oauth.browser()
    const { at } = await browser.open((await browser.open(url)).at, { token: hub.token, decision: 'allow' })
    expect((await fetch(at)).status).toBe(200)
  })
  expect([code, output]).toEqual([0, expect.stringMatching(/Total: 3 passed, 0 failed/)])
})

async function checkBehind(name: string, entry: object, revision: Revision, era: Era): Promise<void> {
  const servers = { metrics: false, fixture: { ...entry, prefix: '' } }
  await using hub = await startTestHub({ config: JSON.stringify({ servers }) })
  await untilReady(hub, 'fixture')
  await using door = await startForwarder(hub)
  await check(`the hub with a ${name}`, { kind: 'server', url: door.url }, revision, `behind-${era}`)
}
