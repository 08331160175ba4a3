import type { UpstreamHealth } from '../../schemas/health.ts'
import { checkHealth } from '../kit/health.ts'
import type { Channels } from './channels/channels.ts'

/** Checks in parallel the channels that can be checked without sending. */
export function checkChannels({ all }: Channels): Promise<UpstreamHealth[]> {
  const checks = all.flatMap(({ config, sender }) => {
    const { check, address } = sender
    if (!check) return []
    const upstream = { name: config.name, kind: config.kind.kind, address }
    const ask = async () => {
      const version = await check(new AbortController().signal)
      return typeof version === 'string' ? version : undefined
    }
    return [checkHealth(upstream, ask)]
  })
  return Promise.all(checks)
}
