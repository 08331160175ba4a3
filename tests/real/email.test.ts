import { expect, test } from 'vitest'
import { PIXEL, startNotifications, withChannels } from '../../servers/notifications/testing/world.ts'
import { until } from '../support/until.ts'
import { type MailServer, startMailServer } from './setup/mail.ts'

/* nodemailer with the real SMTP server of npm, whose mails are read by mailparser. */

const login = { user: 'hub', password: 'pw-of-hub', allowSelfSigned: true }
const mail = (server: MailServer, more: Record<string, unknown> = login) =>
  withChannels({
    mail: {
      kind: 'email',
      url: `smtp://127.0.0.1:${server.port}`,
      from: 'Hub <hub@home.example>',
      to: ['a@home.example', 'b@home.example'],
      ...more,
    },
  })

test('with a login over STARTTLS: text, HTML, picture, urgency', async () => {
  await using server = await startMailServer()
  await using world = await startNotifications(mail(server))
  const message = 'the **disk** is full: ä😀 <script>alert(1)</script>\n\n- one'
  const sent = await world.call('send_notification', {
    message,
    title: 'Dïsk',
    severity: 'critical',
    image: PIXEL,
  })
  expect(sent.text).toBe('Sent on mail (E-mail).')
  const [got] = server.mails
  expect(got).toMatchObject({ secure: true, user: 'hub', to: ['a@home.example', 'b@home.example'] })
  expect(got?.parsed).toMatchObject({ subject: 'CRITICAL: Dïsk' })
  expect(got?.parsed.headers.get('priority')).toBe('high')
  expect(got?.parsed.text?.trim()).toBe('the disk is full: ä😀 <script>alert(1)</script>\n\n- one')
  expect(got?.parsed.html).toContain('<strong>disk</strong>')
  expect(got?.parsed.html).not.toContain('<script>')
  expect(got?.parsed.html).toContain('src="data:image/png;base64,')
  expect(got?.parsed.attachments[0]).toMatchObject({ filename: 'image.png', contentType: 'image/png' })
  expect(got?.parsed.attachments[0]?.content.toString('base64')).toBe(PIXEL)
  expect(await world.newest()).toMatchObject({ status: 'sent', upstreamId: got?.parsed.messageId })
  expect(await world.world.health()).toMatchObject({ ok: true })
})

test('encrypted from the first byte, and with the login in the address', async () => {
  await using server = await startMailServer({ secure: true })
  const url = `smtps://hub:pw-of-hub@127.0.0.1:${server.port}`
  await using world = await startNotifications(mail(server, { url, allowSelfSigned: true }))
  await world.call('send_notification', { message: 'first line\nsecond' })
  expect(server.mails[0]).toMatchObject({ secure: true, user: 'hub' })
  expect(server.mails[0]?.parsed.subject).toBe('first line')
})

test.each([
  ['a wrong password', { ...login, password: 'S3cret' }, {}, /did not accept the user or password/],
  [
    'a certificate that nobody signed',
    { ...login, allowSelfSigned: false },
    {},
    /set allowSelfSigned of mail/,
  ],
  [
    'a password that would cross the network in the clear',
    { ...login, url: 'smtp://127.0.0.2:PORT' },
    { hideSTARTTLS: true, disabledCommands: ['STARTTLS' as const] },
    /could not be reached over an encrypted connection/,
  ],
])('%s: fails at once, with what to do', async (_what, entry, options, words) => {
  await using server = await startMailServer(options, 'url' in entry ? '127.0.0.2' : undefined)
  const own = 'url' in entry ? { url: entry.url.replace('PORT', String(server.port)) } : {}
  await using world = await startNotifications(mail(server, { ...entry, ...own }))
  const failed = await world.call('send_notification', { message: 'hi' })
  expect(failed.isError).toBe(true)
  expect(failed.text).toMatch(words)
  expect(failed.text).not.toContain('S3cret')
  expect(server.mails).toEqual([])
  expect(await world.world.health()).toMatchObject({ ok: false })
})

test('a refusal that passes is tried again, one that does not is over', async () => {
  await using server = await startMailServer()
  await using world = await startNotifications(mail(server))
  server.refuseOnce(451, 'greylisted')
  const accepted = await world.call('send_notification', { message: 'hi' })
  expect(accepted.text).toContain('greylisted')
  const id = await world.newest()
  expect(id['status']).toBe('retrying')
  await world.clock.advance(10_000)
  await until('it is sent', () => server.mails.length === 1)
  expect(server.mails[0]?.parsed.text?.trim()).toBe('hi')
  server.refuseOnce(550, 'no such user')
  const refused = await world.call('send_notification', { message: 'ho' })
  expect(refused.isError).toBe(true)
  expect(refused.text).toContain('no such user')
})

test('down: is tried again, and says where', async () => {
  const server = await startMailServer()
  await using world = await startNotifications(mail(server))
  await server[Symbol.asyncDispose]()
  const accepted = await world.call('send_notification', { message: 'hi' })
  expect(accepted.text).toContain(`could not be reached at 127.0.0.1:${server.port}`)
  expect(await world.newest()).toMatchObject({ status: 'retrying' })
})
