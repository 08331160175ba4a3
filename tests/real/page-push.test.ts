import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { openClient } from '../support/clients.ts'
import { odd, untilReady } from '../support/downstream.ts'
import { askForSwallow } from '../support/phone-hub.ts'
import { pushFetch, type ReceivedPush, startPushService } from '../support/push-service.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'
import { type OpenPage, usePages } from './page/pages.ts'
import { connected, linkTo } from './page/steps.ts'

const pages = usePages()
let service: Awaited<ReturnType<typeof startPushService>>
let hub: TestHub
beforeAll(async () => {
  service = await startPushService()
  hub = await startTestHub({
    config: JSON.stringify({
      servers: { metrics: false, odd: odd().entry },
      notify: { channel: 'page', private: true },
    }),
    agents: { homelab: '---\napprove: ["odd__sw*"]\n---\nYou look after the homelab.\n' },
    overrides: { pushFetch },
  })
  await untilReady(hub, 'odd')
})
afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

/** Matches what Chromium says of a click that this test made: only a person's lets a worker wait and focus a page. */
const MADE_CLICK = /waitUntil|Not allowed to focus/

/** Lets the page subscribe at the push service of this test: Chromium's own is on the internet. */
const SUBSCRIBED = (subscription: object) => `
  let subscription = null
  PushManager.prototype.getSubscription = async () => subscription
  PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
    const text = atob(applicationServerKey.replaceAll('-', '+').replaceAll('_', '/'))
    const key = Uint8Array.from(text, char => char.charCodeAt(0)).buffer
    return subscription = { toJSON: () => (${JSON.stringify(subscription)}), options: { applicationServerKey: key },
      unsubscribe: async () => { subscription = null; return true } }
  }`

const section = (page: Page) => page.getByRole('region', { name: 'This device' })
const button = (page: Page, name: string) => section(page).getByRole('button', { name })

async function openSettings(name: string): Promise<OpenPage['page']> {
  const { page } = await pages.open('about:blank', { mayLog: MADE_CLICK })
  await page.context().grantPermissions(['notifications'], { origin: hub.url })
  await page.addInitScript(SUBSCRIBED(service.subscribe(name)))
  await page.goto(linkTo(hub))
  await connected(page).waitFor()
  await page.getByRole('button', { name: 'Settings' }).click()
  await page.getByRole('button', { name: 'Notifications' }).click()
  return page
}

/** Hands pushes to the page's worker as Chromium does, without the internet. */
async function openDelivery(page: Page) {
  const devtools = await page.context().newCDPSession(page)
  const found = Promise.withResolvers<string>()
  devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
    for (const { registrationId } of registrations) found.resolve(registrationId)
  })
  await devtools.send('ServiceWorker.enable')
  const registrationId = await found.promise
  return ({ message }: ReceivedPush) =>
    devtools.send('ServiceWorker.deliverPushMessage', {
      origin: hub.url,
      registrationId,
      data: JSON.stringify(message),
    })
}

interface Shown {
  title: string
  body: string
  tag: string
  actions: { title: string }[]
}
/** Returns the notifications that are shown. */
const shown = (page: Page) =>
  page.evaluate<Shown[]>(`navigator.serviceWorker.ready.then(one => one.getNotifications()).then(all =>
    all.map(({ title, body, tag, actions }) => ({ title, body, tag, actions })))`)
/** Clicks on a notification, or on a button of it. */
const click = async (page: Page, tag: string, action = '') => {
  const [worker] = page.context().serviceWorkers()
  await worker?.evaluate(`self.registration.getNotifications({ tag: '${tag}' }).then(([notification]) =>
    self.dispatchEvent(new NotificationEvent('notificationclick', { notification, action: '${action}' })))`)
}

test('this browser is chosen under where to be told, and gets a test message', async () => {
  const page = await openSettings('chosen')
  const told = page.getByRole('region', { name: 'Where to be told' })
  await told.getByText('You are told through the browsers').waitFor()
  await told.getByRole('button', { name: 'Save and send a test' }).click()
  await told.getByText('It is set. A test message appears in a moment').waitFor()
  await service.pushes.find('the test', ({ message }) => message.tag === 'test')
  await button(page, 'Stop notifying me here').click()
  await button(page, 'Notify me on this device').waitFor()
})

test('the owner switches notifications on, tests them, answers by a button, and is led to the conversation', async () => {
  const page = await openSettings('phone')
  await button(page, 'Notify me on this device').click()
  await button(page, 'Send a test').click()
  await section(page).getByText('Sent: it appears in a moment.').waitFor()
  const deliver = await openDelivery(page)
  await deliver(await service.pushes.find('the test', ({ message }) => message.tag === 'test'))
  const untilShown = (isIt: (one: Shown) => boolean) =>
    until('the notification is shown', async () => (await shown(page)).find(isIt))
  expect(await untilShown(({ tag }) => tag === 'test')).toMatchObject({
    title: 'Superbloom',
    body: 'Notifications of the hub reach this device.',
  })

  const approval = await askForSwallow(hub, { any: 'one' })
  const told = await service.pushes.find('the approval', ({ message }) => message.tag === approval.id)
  await deliver(told)
  const isOfIt = ({ tag }: Shown) => tag === approval.id
  expect(await untilShown(isOfIt)).toMatchObject({
    title: 'homelab asks for odd__swallow',
    body: told.message.text,
    actions: [{ title: 'Approve' }, { title: 'Deny' }],
  })
  await click(page, approval.id, '0')
  const result = await untilShown(one => isOfIt(one) && one.actions.length === 0)
  expect(result).toMatchObject({ body: 'odd__swallow is approved.' })
  await using client = await openClient('sdk 1', hub)
  const { structuredContent } = await client.call('hub_list_approvals', {})
  expect(structuredContent).toMatchObject({ approvals: [{ status: 'approved', decidedWhere: 'button' }] })

  // What was decided on another device: the page is open, so the notification goes.
  const elsewhere = await askForSwallow(hub, { any: 'two' })
  await deliver(await service.pushes.find('the other', ({ message }) => message.tag === elsewhere.id))
  await untilShown(({ tag }) => tag === elsewhere.id)
  using chat = await openChat(hub)
  chat.send({ type: 'decide', approval: elsewhere.id, decision: 'deny' })
  const isOver = ({ message }: ReceivedPush) => message.tag === elsewhere.id && message.isOver === true
  await deliver(await service.pushes.find('its end', isOver))
  await until('it is gone', async () => !(await shown(page)).some(({ tag }) => tag === elsewhere.id))

  // The page shows the settings; a click on the notification leads to the conversation.
  await click(page, approval.id)
  await page.waitForURL(/#c=homelab$/)
  await connected(page).waitFor()
  expect((await shown(page)).filter(isOfIt)).toEqual([])
})

test('a page that is opened again stays subscribed; signing out and switching off end it', async () => {
  const page = await openSettings('desk')
  await button(page, 'Notify me on this device').click()
  await button(page, 'Stop notifying me here').waitFor()
  await button(page, 'Stop notifying me here').click()
  await button(page, 'Notify me on this device').click()
  await button(page, 'Send a test').click()
  await section(page).getByText('Sent: it appears in a moment.').waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('It opens with its token.').waitFor()
  expect(
    await page.evaluate('navigator.serviceWorker.ready.then(one => one.pushManager.getSubscription())'),
  ).toBe(null)
})

test('where the browser blocks notifications the page says so', async () => {
  const { page } = await pages.open(linkTo(hub))
  await connected(page).waitFor()
  await page.addInitScript("Object.defineProperty(Notification, 'permission', { get: () => 'denied' })")
  await page.reload()
  await connected(page).waitFor()
  await page.getByRole('button', { name: 'Settings' }).click()
  await page.getByRole('button', { name: 'Notifications' }).click()
  await section(page).getByText('This browser blocks notifications of this page').waitFor()
  expect(await button(page, 'Notify me on this device').isDisabled()).toBe(true)
})

test('where the hub tells another channel the page says what to write', async () => {
  await using other = await startTestHub({ config: 'servers: { metrics: false }\n' })
  const { page } = await pages.open('about:blank')
  await page.context().grantPermissions(['notifications'], { origin: other.url })
  await page.goto(`${linkTo(other)}`)
  await connected(page).waitFor()
  await page.getByRole('button', { name: 'Settings' }).click()
  await page.getByRole('button', { name: 'Notifications' }).click()
  await section(page).getByText('write notify: { channel: page, private: true }').waitFor()
  expect(await button(page, 'Notify me on this device').isDisabled()).toBe(true)
})
