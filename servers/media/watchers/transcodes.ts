import type { Emit } from '../../kit/events.ts'
import type { Watcher } from '../../kit/server.ts'
import { cleanText } from '../../kit/text.ts'
import { type Jellyfin, readSessions } from '../upstreams/jellyfin/jellyfin.ts'
import { toDelivery, toViewer } from '../upstreams/jellyfin/playing.ts'
import type { Session } from '../upstreams/jellyfin/shapes.ts'

interface Playing {
  item: string
  raised: boolean
}

/**
 * Creates the watcher that raises transcode_started, once for each session and title. The first poll raises
 * nothing. An event counts while the session plays the title, even if a seek restarts the conversion; a new
 * playback raises it again. Repacking without converting raises nothing.
 */
export function createTranscodeWatcher(jellyfin: Jellyfin, deps: { every: number; emit: Emit }): Watcher {
  let before: ReadonlyMap<string, Playing> | undefined
  return {
    name: `sessions of ${jellyfin.name}`,
    every: deps.every,
    async poll() {
      const now = new Map<string, Playing>()
      for (const session of await readSessions(jellyfin)) {
        const item = session.NowPlayingItem
        if (!item) continue
        const last = before?.get(session.Id)
        const isHeld = last?.item === item.Id && last.raised
        const isConverted = toDelivery(session).method === 'transcode'
        if (isConverted && !isHeld && before) raise(jellyfin.name, session, deps.emit)
        now.set(session.Id, { item: item.Id, raised: isHeld || isConverted })
      }
      before = now
    },
  }
}

function raise(instance: string, session: Session, emit: Emit): void {
  const { user, title, device } = toViewer(session)
  const { reasons } = toDelivery(session)
  const payload = {
    user: cleanText(user, 100),
    title: cleanText(title),
    device: cleanText(device, 100),
    reason: reasons.length > 0 ? reasons.join('; ') : 'Jellyfin does not say why',
  }
  emit(
    'transcode_started',
    payload,
    `transcode_started:${instance}:${session.Id}:${session.NowPlayingItem?.Id}`,
  )
}
