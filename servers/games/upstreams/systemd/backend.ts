import { type Clock, sleep } from '../../../kit/clock.ts'
import { UpstreamFailure } from '../../../kit/upstream/failure.ts'
import type { Backend } from '../../game.ts'
import type { RunCommand } from './command.ts'
import { createSystemctl, type Systemctl, type Unit } from './systemctl.ts'
import { isDown, isUp, toState, toUse } from './unit-facts.ts'

/** Milliseconds between two polls of a unit that ends, and between the two samples of its CPU use. */
const STEP = 250
const WINDOW = 500
/** Seconds that systemd gets to end a killed unit. */
const KILL_SECONDS = 10

export interface SystemdDeps {
  clock: Clock
  run: RunCommand
  env: Readonly<Record<string, string>>
}

/**
 * Creates the backend of a unit of systemd 247 or newer, the system's or the user's. It needs `systemctl`
 * here, and `journalctl` for logs.
 */
export function createSystemdBackend(unit: Unit, { clock, run, env }: SystemdDeps): Backend {
  const systemctl = createSystemctl(unit, { run, env })
  const stop = async (graceSeconds: number, signal?: AbortSignal) => {
    if (isDown(await systemctl.show(signal))) return false
    await systemctl.act('stop', signal)
    if (!(await endsWithin(systemctl, graceSeconds, clock, signal))) await kill(systemctl, clock, signal)
    return true
  }
  return {
    kind: 'systemd',
    where: systemctl.where,
    state: async signal => toState(await systemctl.show(signal)),
    async start(signal) {
      if (isUp(await systemctl.show(signal))) return false
      await systemctl.act('start', signal)
      return true
    },
    stop,
    async restart(graceSeconds, signal) {
      await stop(graceSeconds, signal)
      await systemctl.act('start', signal)
    },
    logs: (lines, signal) => systemctl.log(lines, signal),
    async use(signal) {
      const before = await systemctl.show(signal)
      const since = clock.monotonic()
      await sleep(clock, WINDOW, signal)
      return toUse(before, await systemctl.show(signal), clock.monotonic() - since)
    },
  }
}

async function endsWithin(
  systemctl: Systemctl,
  seconds: number,
  clock: Clock,
  signal?: AbortSignal,
): Promise<boolean> {
  const end = clock.monotonic() + seconds * 1000
  while (!isDown(await systemctl.show(signal))) {
    if (clock.monotonic() >= end) return false
    await sleep(clock, STEP, signal)
  }
  return true
}

async function kill(systemctl: Systemctl, clock: Clock, signal?: AbortSignal): Promise<void> {
  await systemctl.kill(signal)
  if (await endsWithin(systemctl, KILL_SECONDS, clock, signal)) return await systemctl.forget(signal)
  throw new UpstreamFailure({
    kind: 'timeout',
    what: `The ${systemctl.where} does not end.`,
    where: systemctl.where,
    why: `it was killed, and still runs after ${KILL_SECONDS} s`,
    fix: 'Look at it on the machine: systemctl status says what it waits for, often a disk.',
  })
}
