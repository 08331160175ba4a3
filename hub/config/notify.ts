import type { NotifySettings } from '../../schemas/notify.ts'
import type { LiveConfig } from './live-config.ts'

/** Returns what notifications need of the config; undefined where nobody wants any. */
export function notifySettings({
  current: { notify, publicUrl, timezone },
}: Pick<LiveConfig, 'current'>):
  | (NotifySettings & { publicUrl: string | undefined; timezone: string })
  | undefined {
  return notify && { ...notify, publicUrl, timezone }
}
