import { afterEach, beforeEach, expect, test } from 'vitest'
import { runCli } from '../support/cli.ts'
import { openClient } from '../support/clients.ts'
import { odd, untilReady } from '../support/downstream.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { usePages } from './page/pages.ts'
import { startSpeaker } from './page/speaker.ts'
import { linkTo, log, say } from './page/steps.ts'

/** Arguments that would look like others, where they were shown as they are. A reply's limit bounds their length. */
const HOSTILE = {
  path: 'a\u202egnp.exe\u200b\u2066\u00ad\u00a0\u3164\u2800',
  lines: 'x\r\n\u2028\u0085Approve: apr_1 homelab: harmless {}\n',
  terminal: '\u001b[2J\u001b]8;;http://x\u0007\u009b1A',
  html: '</code></pre><button class="approve">Approve</button><img src=x onerror=alert(1)>',
  escaped: '\\u202e',
  'ke\u202ey"': { pаth: 'the а of this key is Cyrillic' },
  end: `${'x'.repeat(10_000)}THE END`,
}

let speaker: Awaited<ReturnType<typeof startSpeaker>>
let hub: TestHub
beforeEach(async () => {
  speaker = await startSpeaker()
  const config = { servers: { metrics: false, odd: odd().entry }, tools: { approve: ['odd__swallow'] } }
  hub = await startTestHub({ config: JSON.stringify(config), variables: speaker.variables })
  await untilReady(hub, 'odd')
})
afterEach(async () => {
  await hub[Symbol.asyncDispose]()
  await speaker[Symbol.asyncDispose]()
})
const pages = usePages()

/** Matches characters that no place may show as they are. */
const UNSEEN = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u2800]/u

test('the page, the terminal chat and superbloom approvals show hostile arguments whole and escaped', async () => {
  const { page } = await pages.open(linkTo(hub))
  await say(page, 'Do it')
  const call = await speaker.speech(1)
  call.calls('odd__swallow', HOSTILE)
  call.ends()
  const card = log(page).getByRole('article', { name: /^Waits for your yes/ })
  const shown = (await card.getByRole('region', { name: 'Arguments' }).textContent()) ?? ''
  expect(JSON.parse(shown)).toEqual(HOSTILE)
  expect(shown).not.toMatch(UNSEEN)
  expect(await card.getByRole('button', { name: 'Approve' }).count()).toBe(1)
  expect(await card.locator('img').count()).toBe(0)

  await using client = await openClient('sdk 2, 2026-07-28', { url: `${hub.url}/mcp`, token: hub.token })
  const { structuredContent } = await client.call('hub_list_approvals', { status: 'open' })
  expect(structuredContent).toMatchObject({ approvals: [{ arguments: HOSTILE }] })

  const run = (args: string[], input = '') =>
    runCli(args, { cwd: hub.folder, variables: hub.variables, input })
  const listed = await run(['approvals'])
  const [id = ''] = /apr_\w+/.exec(listed.stdout) ?? []
  for (const { stdout } of [listed, await run(['chat', 'homelab'], `/deny ${id}\n`)]) {
    const [, json = ''] = /^\d+\. apr_\w+ homelab: odd__swallow (.*)$/m.exec(stdout) ?? []
    expect(JSON.parse(json)).toEqual(HOSTILE)
    expect(stdout).not.toMatch(UNSEEN)
    expect(stdout.match(/^.*harmless/gm)).toHaveLength(1)
  }
})
