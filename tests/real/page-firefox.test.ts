import { expect, test } from 'vitest'
import { startTestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'
import { openFirefox } from './page/firefox.ts'
import { startSpeaker } from './page/speaker.ts'
import { linkTo } from './page/steps.ts'

const PHONE = { width: 390, height: 844 }
const WIDER = `(e => e.scrollWidth > e.clientWidth)(document.documentElement)`

test("Debian's Firefox on a phone: signed in by link, a streamed reply, an approval, the House and the Settings", async () => {
  await using speaker = await startSpeaker()
  await using hub = await startTestHub({
    config: 'tools: { approve: ["get_system_metrics"] }\n',
    variables: speaker.variables,
  })
  await until('its servers are ready', async () => (await fetch(`${hub.url}/readyz`)).ok)
  await using page = await openFirefox(linkTo(hub), PHONE)
  await page.shows('This is homelab.')
  expect(await page.evaluate('location.href')).not.toContain('token')

  await page.tap('textbox', 'Message to homelab')
  await page.type('Look at the machine')
  await page.tap('button', 'Send')
  const call = await speaker.speech(1)
  call.says('I look at ')
  await page.shows('I look at')
  call.calls('get_system_metrics')
  call.ends()
  const goesOn = await speaker.speech(2)
  goesOn.says('I asked for your yes.')
  goesOn.ends()
  await page.shows('I asked for your yes.')
  await page.tap('button', 'Approve')
  const told = await speaker.speech(3)
  await page.shows('By owner in the chat')
  told.says('All is ')
  await page.shows('All is')
  told.says('well.')
  told.ends()
  await page.shows('All is well.')
  expect(await page.evaluate(WIDER)).toBe(false)

  for (const [place, words] of [
    ['House', 'Up for'],
    ['Settings', 'A model that thinks'],
  ] as const) {
    await page.tap('button', 'Conversations')
    await page.tap('button', place)
    await page.shows(words)
    expect([place, await page.evaluate(WIDER)]).toEqual([place, false])
  }
  expect(page.complaints).toEqual([])
})
