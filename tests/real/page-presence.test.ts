import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Ntfy, startNtfy } from '../../hub/demo/ntfy.ts'
import { openChat } from '../support/chat-client.ts'
import { startPhoneHub } from '../support/phone-hub.ts'
import { until } from '../support/until.ts'
import { usePages } from './page/pages.ts'
import { answers, connected, linkTo } from './page/steps.ts'

const pages = usePages()
let ntfy: Ntfy
let lab: Awaited<ReturnType<typeof startPhoneHub>>
beforeAll(async () => {
  ntfy = await startNtfy()
  lab = await startPhoneHub({ channel: { kind: 'ntfy', url: `${ntfy.url}/phone` } })
})
afterAll(async () => {
  await lab[Symbol.asyncDispose]()
  await ntfy[Symbol.asyncDispose]()
})

test('the phone is not told of what the page shows, and is once the page is closed', async () => {
  const { page } = await pages.open(linkTo(lab.hub))
  await connected(page).waitFor()
  using chat = await openChat(lab.hub)
  const remind = (words: string) => chat.say('homelab', `/remind in 3 seconds ${words}`)
  await remind('water the plants')
  await answers(page).filter({ hasText: 'water the plants' }).nth(1).waitFor()
  await page.goto('about:blank')
  await remind('call mum')
  await until('it is told', () => ntfy.published.some(({ message }) => message.includes('call mum')))
  expect(ntfy.published.map(({ message }) => message).join('\n')).not.toContain('plants')
})
