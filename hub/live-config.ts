import type { Environment } from './config/environment.ts'
import { type Config, loadConfig, locateConfig } from './config/load.ts'
import { HubError } from './core/errors.ts'
import type { Log } from './core/log.ts'

/** The config in force. A change that is wrong is refused whole, and the old one stays. */
export interface LiveConfig {
  readonly current: Config
  /** Where it is read from, whether there is a file or not. */
  readonly file: string
  /** What is wrong with the file as it is now, and what looks like a mistake in it. */
  readonly problems: readonly string[]
  /** Reads the file again; true where a new config is in force. */
  reload(): boolean
}

export function createLiveConfig(first: Config, environment: Environment, log: Log): LiveConfig {
  let current = first
  let refused: string | undefined
  for (const message of first.warnings) log.warn('config_warning', { message })
  return {
    file: locateConfig(environment),
    get current() {
      return current
    },
    get problems() {
      return refused === undefined ? current.warnings : [...current.warnings, refused]
    },
    reload() {
      try {
        const next = loadConfig(environment)
        refused = undefined
        if (JSON.stringify(next) === JSON.stringify(current)) return false
        current = next
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
