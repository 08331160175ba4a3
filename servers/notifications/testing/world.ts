import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../../kit/env.ts'
import { createFakeClock, type FakeClock } from '../../kit/testing/fake-clock.ts'
import { type ServerWorld, startWorld } from '../../kit/testing/server-world.ts'
import { notifications } from '../server.ts'

/** 22 Nov 2026 12:00 UTC. */
export const NOON = 1_795_348_800_000

/** The server with an outbox of its own, in a folder that is deleted with it. */
export interface NotificationWorld extends AsyncDisposable {
  readonly clock: FakeClock
  readonly world: ServerWorld
  readonly folder: string
  call: ServerWorld['call']
  /** Returns the history's newest entry. */
  newest(): Promise<Record<string, unknown>>
  /** Stops the server cleanly and starts it again on the same outbox; `meanwhile` runs while it is down. */
  restart(environment?: Environment, meanwhile?: () => void): Promise<void>
}

export async function startNotifications(environment: Environment, now = NOON): Promise<NotificationWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'superbloom-notifications-'))
  const clock = createFakeClock(now)
  const start = (given: Environment) =>
    startWorld(notifications, {
      clock,
      environment: { NOTIFICATIONS_DATA: join(folder, 'n.db'), NOTIFICATIONS_TIMEZONE: 'UTC', ...given },
    })
  let world = await start(environment).catch(error => {
    rmSync(folder, { recursive: true, force: true })
    throw error
  })
  return {
    clock,
    folder,
    get world() {
      return world
    },
    call: (...given) => world.call(...given),
    async newest() {
      const { data } = await world.call('get_notification_history', { limit: 1 })
      return (data['notifications'] as Record<string, unknown>[])[0] ?? {}
    },
    async restart(given = environment, meanwhile) {
      await world[Symbol.asyncDispose]()
      meanwhile?.()
      world = await start(given)
    },
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Returns channels in the form of NOTIFICATIONS_CHANNELS. */
export function withChannels(
  channels: Record<string, Record<string, unknown>>,
  routing?: Record<string, unknown>,
): Environment {
  return {
    NOTIFICATIONS_CHANNELS: JSON.stringify(channels),
    ...(routing === undefined ? {} : { NOTIFICATIONS_ROUTING: JSON.stringify(routing) }),
  }
}

/** A PNG of one pixel, base64. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
