import { createEnvironment } from './config/environment.ts'
import { type Config, loadConfig } from './config/load.ts'
import { systemClock } from './core/clock.ts'
import { HubError } from './core/errors.ts'
import { createLog } from './core/log.ts'
import { type Hub, type HubInputs, startHub } from './hub.ts'

type Options = Pick<HubInputs, 'acceptLoss' | 'acceptFiles' | 'onStandby' | 'overrides'>

/** Loads the config, starts the hub, and waits for a signal. `onStarted` gets the running hub and its config. */
export async function main(
  onStarted: (hub: Hub, config: Config) => void,
  options: Options = {},
): Promise<void> {
  const environment = createEnvironment()
  const config = loadConfig(environment)
  const log = createLog({
    level: config.logLevel,
    now: systemClock.now,
    write: line => process.stderr.write(`${line}\n`),
    pretty: process.stderr.isTTY === true,
  })
  const asked = new AbortController()
  // A second signal changes nothing: a terminal sends Ctrl+C to the launcher and to this process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => asked.abort(signal))
  const { signal } = asked
  const stopped = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
  try {
    await using hub = await startHub({ config, environment, log, signal, ...options })
    onStarted(hub, config)
    const taken = hub.taken.then(why => Promise.reject(new HubError('unavailable', why)))
    await Promise.race([stopped, taken])
    log.info('hub_stopping', { why: signal.reason })
  } catch (error) {
    // It was stopped while it waited to lead.
    if (error !== signal.reason) throw error
  }
}
