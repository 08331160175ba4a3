import type { NotifiedOf, NotifySettings } from '../../schemas/notify.ts'
import type { LiveConfig } from './live-config.ts'

/** Returns a function that tells what people are to be notified of, as the config says now. */
export function notifiesOf(config: Pick<LiveConfig, 'current'>): (about: NotifiedOf) => boolean {
  return about => config.current.notify?.about.includes(about) === true
}

/** Returns what notifications need of the config; undefined where nobody wants any. */
export function notifySettings({
  current: { notify, publicUrl, timezone },
}: Pick<LiveConfig, 'current'>):
  | (NotifySettings & { publicUrl: string | undefined; timezone: string })
  | undefined {
  return notify && { ...notify, publicUrl, timezone }
}
