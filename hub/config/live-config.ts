import { createRedact } from '../../schemas/redact.ts'
import type { Clock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import { describeEnd } from './certificate.ts'
import { describeConfig } from './describe-config.ts'
import { type Environment, listSecrets } from './environment.ts'
import { type Config, loadConfig, locateConfig } from './load.ts'

export type LiveConfig = ReturnType<typeof createLiveConfig>

const LATE_TLS = 'tls in superbloom.yaml: the hub changes between http and https when it starts again'

/** Creates the current config. A wrong change is refused as a whole, and the old config stays. */
export function createLiveConfig(
  first: Config,
  environment: Environment,
  log: Log,
  clock: Pick<Clock, 'now'>,
) {
  let current = first
  let refused: string | undefined
  let redact = createRedact(listSecrets(first))
  const read = (text?: string) =>
    loadConfig(environment, text, { certificate: current.tls, now: clock.now() })
  for (const message of first.warnings) log.warn('config_warning', { message })
  return {
    /** Path of the config file, which may not exist. */
    file: locateConfig(environment),
    get current() {
      return current
    },
    /** Why the file as it is now is not in force; empty where it is. */
    get refusals(): readonly string[] {
      return refused === undefined ? [] : [refused]
    },
    /** Problems of the file as it is now, and settings in it that look like mistakes. */
    get problems(): readonly string[] {
      const isLate = (first.tls === undefined) !== (current.tls === undefined)
      const { tls, timezone, warnings } = current
      return [
        ...warnings,
        ...(tls && tls.expiresAt <= clock.now() ? [describeEnd(tls, timezone)] : []),
        ...(isLate ? [LATE_TLS] : []),
        ...(refused === undefined ? [] : [refused]),
      ]
    },
    /** Returns each value with its source, without secrets. */
    describe: () => describeConfig(current, environment),
    /** Removes the secrets of the config and of the environment from a text. */
    redact: (text: string) => redact(text),
    /** Throws `bad_request` with what is wrong with a text for the file. */
    check: (text: string) => void read(text),
    /** Reads the file again; returns true where the config changed. */
    reload(): boolean {
      try {
        const next = read()
        refused = undefined
        if (JSON.stringify(next) === JSON.stringify(current)) return false
        current = next
        redact = createRedact(listSecrets(next))
        for (const message of next.warnings) log.warn('config_warning', { message })
        log.info('config_changed')
        return true
      } catch (error) {
        if (!(error instanceof HubError)) throw error
        refused = `${error.message} (the config from before stays in force)`
        log.error('config_refused', { message: error.message })
        return false
      }
    },
  }
}
