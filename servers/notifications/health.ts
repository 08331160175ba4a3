import type { UpstreamHealth } from '../../schemas/health.ts'
import { checkHealth } from '../kit/health.ts'
import type { Channels } from './channels/channels.ts'

/** Checks in parallel the channels that can be checked without sending. */
export function checkChannels({ all }: Channels): Promise<UpstreamHealth[]> {
  const checks = all.flatMap(({ config, sender }) => {
    const { check, address } = sender
    if (!check) return []
    const signal = new AbortController().signal
    return [checkHealth({ name: config.name, kind: config.kind.kind, address }, () => check(signal))]
  })
  return Promise.all(checks)
}
