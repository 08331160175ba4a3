import { ok, startFaultyUpstream } from '../../kit/testing/faulty-upstream.ts'
import { NOON, startNotifications, withChannels } from './world.ts'

/** ntfy's answer after it has taken a message. */
export const published = { id: 'abc123', time: 1_795_348_800, event: 'message', topic: 'lab', message: 'x' }

/** Starts a channel "phone" (ntfy) with these rules, and its upstream. */
export async function startPhone(rules: Record<string, unknown> = {}, now = NOON) {
  const upstream = await startFaultyUpstream({ 'POST /': ok(published), 'PUT /lab': ok(published) })
  const environment = withChannels({
    phone: { kind: 'ntfy', url: `${upstream.url}/lab`, token: 'tk_secret', ...rules },
  })
  const world = await startNotifications(environment, now)
  return {
    upstream,
    environment,
    world,
    clock: world.clock,
    send: (args: Record<string, unknown>, request = {}) =>
      world.call('send_notification', args, undefined, request),
    /** Returns the messages that the upstream got. */
    got: () =>
      upstream.requests
        .filter(({ method }) => method === 'POST')
        .map(({ body }) => JSON.parse(body) as { message: string; title?: string; sequence_id: string }),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await upstream[Symbol.asyncDispose]()
    },
  }
}

/** Returns the message's delivery on the first channel. */
export function firstOf(data: Record<string, unknown>): Record<string, unknown> {
  return (data['deliveries'] as Record<string, unknown>[])[0] ?? {}
}
