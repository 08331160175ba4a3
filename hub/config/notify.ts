import type { NotifySettings } from '../../schemas/notify.ts'
import type { ConfigChange } from './config-editor.ts'
import type { LiveConfig } from './live-config.ts'

/** Returns what notifications need of the config; undefined where nobody wants any. */
export function notifySettings({
  current,
}: Pick<LiveConfig, 'current'>):
  | (NotifySettings & { publicUrl: string | undefined; timezone: string })
  | undefined {
  const { notify, publicUrl } = current
  // The zone is read only where it is needed: it loads eight megabytes of ICU's tables.
  return notify && { ...notify, publicUrl, timezone: current.timezone }
}

/** Returns the keys of the config file that notifications have with these settings. */
export function toNotifyChanges({ channel, about, private: isPrivate }: NotifySettings): ConfigChange[] {
  return [
    [['notify', 'channel'], channel],
    [['notify', 'about'], about],
    [['notify', 'private'], isPrivate],
  ]
}
