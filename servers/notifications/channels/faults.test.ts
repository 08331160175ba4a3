import { describe, expect, test } from 'vitest'
import { until } from '../../../tests/support/until.ts'
import { FAULTS, ok, startFaultyUpstream } from '../../kit/testing/faulty-upstream.ts'
import { startNotifications, withChannels } from '../testing/world.ts'

const SECRET = 'S3cr3t-of-the-channel'
const DISCORD_ID = '123456'

/** Every kind that speaks HTTP, and the wrong answers that it accepts because it cannot recognise them. */
const KINDS: Record<string, { entry: (url: string) => Record<string, unknown>; takes?: string[] }> = {
  ntfy: { entry: url => ({ url: `${url}/lab`, token: SECRET }) },
  'discord-webhook': { entry: url => ({ url: `${url}/api/webhooks/${DISCORD_ID}/${SECRET}` }) },
  'discord-bot': { entry: url => ({ token: SECRET, channelId: DISCORD_ID, apiUrl: url }) },
  gotify: { entry: url => ({ url, token: SECRET }) },
  webhook: {
    entry: url => ({
      url: `${url}/hooks/${SECRET}?key=${SECRET}`,
      headers: { 'x-key': SECRET },
      secret: SECRET,
    }),
    takes: ['garbage', 'html', 'another shape'],
  },
  'webhook whose address is its key': {
    entry: url => ({ kind: 'webhook', url: `${url}/hooks/${SECRET}?key=${SECRET}` }),
    takes: ['garbage', 'html', 'another shape'],
  },
  apprise: { entry: url => ({ url, key: SECRET }), takes: ['garbage', 'another shape'] },
}
const PASSING = ['status 500', 'slow', 'reset']

describe.each(Object.entries(KINDS))('%s', (name, { entry, takes = [] }) => {
  const kind = name.split(' ', 1)[0] ?? ''

  async function start() {
    const upstream = await startFaultyUpstream()
    const world = await startNotifications(withChannels({ phone: { kind, ...entry(upstream.url) } }))
    return {
      upstream,
      world,
      async [Symbol.asyncDispose]() {
        await world[Symbol.asyncDispose]()
        await upstream[Symbol.asyncDispose]()
      },
    }
  }

  test.each(Object.entries(FAULTS))(
    '%s: is told, with what to do and without secrets',
    async (name, answer) => {
      await using lab = await start()
      lab.upstream.will(answer)
      const call = lab.world.call('send_notification', { message: 'hi' })
      if (name === 'slow') {
        await lab.upstream.nextRequest()
        await lab.world.clock.advance(8_000)
      }
      await call
      const wanted = takes.includes(name) ? 'sent' : PASSING.includes(name) ? 'retrying' : 'failed'
      const entry = await until('it is tried', async () => {
        const newest = await lab.world.newest()
        if (newest['status'] !== 'sending') return newest
        await lab.world.clock.advance(500)
        return undefined
      })
      expect(entry['status']).toBe(wanted)
      if (wanted === 'sent') return
      expect(String(entry['fix'])).not.toBe('')
      const listed = await lab.world.call('list_notification_channels')
      expect(listed.text).toContain('PROBLEM')
      for (const text of [
        (await call).text,
        listed.text,
        JSON.stringify(entry),
        JSON.stringify(lab.world.world.logged),
      ])
        expect(text).not.toContain(SECRET)
    },
  )

  test('down: says the address, and tries again', async () => {
    await using lab = await start()
    await lab.upstream[Symbol.asyncDispose]()
    const { text } = await lab.world.call('send_notification', { message: 'hi' })
    expect(text).toContain('nothing listens at 127.0.0.1')
    expect(text).toContain('It is tried again at 22 Nov 2026 12:00 UTC.')
    expect(text).not.toContain(SECRET)
  })

  test('health: tells what answers', async () => {
    await using lab = await start()
    lab.upstream.will(ok({ healthy: true, id: '1', version: '2.0' }))
    const upstreams = kind === 'webhook' ? [] : [{ name: 'phone', kind, ok: true }]
    expect(await lab.world.world.health()).toMatchObject({ ok: true, upstreams })
    lab.upstream.will(FAULTS['wrong key'])
    const report = await lab.world.world.health()
    expect(report?.ok).toBe(kind === 'webhook')
    expect(JSON.stringify(report)).not.toContain(SECRET)
  })
})
