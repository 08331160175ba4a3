import { expect } from 'vitest'
import type { ServerEvent } from '../../../schemas/events.ts'
import { downloads } from '../../../servers/downloads/server.ts'
import { systemClock } from '../../../servers/kit/clock.ts'
import { type Called, type ServerWorld, startWorld } from '../../../servers/kit/testing/server-world.ts'
import { until } from '../../support/until.ts'

/** The downloads server with real clients. */
export interface DownloadsWorld extends AsyncDisposable {
  readonly world: ServerWorld
  /** Calls a tool that must succeed. */
  done(tool: string, args?: Record<string, unknown>): Promise<Called>
  /** Calls a tool that must fail. */
  refused(tool: string, args?: Record<string, unknown>): Promise<string>
  /** Resolves with a download of the status, once it fits. */
  listed(what: string, fits: (one: Listed) => boolean): Promise<Listed>
  /** Resolves with the first event of this type, once it was raised. */
  event(type: string, fits?: (event: ServerEvent) => boolean): Promise<ServerEvent>
}

export interface Listed {
  id: string
  name: string
  client: string
  state: string
  percent: number
  bytesPerSecond?: number
  sizeBytes: number
}

export async function startDownloads(environment: Record<string, string>): Promise<DownloadsWorld> {
  const own = { DOWNLOADS_INTERVAL: '250ms', ...environment }
  const world = await startWorld(downloads, { clock: systemClock, environment: own })
  const done: DownloadsWorld['done'] = async (tool, args) => {
    const called = await world.call(tool, args)
    expect(called.isError, called.text).toBe(false)
    return called
  }
  return {
    world,
    done,
    async refused(tool, args) {
      const called = await world.call(tool, args)
      expect(called.isError, called.text).toBe(true)
      return called.text
    },
    listed: (what, fits) =>
      until(what, async () => {
        const { data } = await done('get_download_status')
        return (data['downloads'] as Listed[]).find(fits)
      }),
    event: (type, fits = () => true) =>
      until(`${type} was raised`, () => world.events().find(event => event.type === type && fits(event))),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}
