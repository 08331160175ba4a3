import type { Engine } from '../../kit/engine/engine.ts'
import type { Follower, Watcher } from '../../kit/server.ts'
import { createContainerCrashFollower } from './container-crash.ts'
import { type CrashDeps, createCrashWatcher } from './crash.ts'

/** Creates the watchers for `server_crash`: engines push; units, processes and workloads are polled. */
export function createCrashWatchers(
  engines: () => readonly Engine[],
  deps: CrashDeps,
): (Watcher | Follower)[] {
  const polled = deps.games.declared.flatMap(game => createCrashWatcher(game, deps) ?? [])
  const names = engines().map(engine => engine.name)
  const pushed = names.map(name =>
    createContainerCrashFollower(name, () => engines().find(engine => engine.name === name), deps),
  )
  // If there is no engine yet, the follower finds one that is started later.
  const later = createContainerCrashFollower('containers', () => engines()[0], deps)
  return [...polled, ...(pushed.length > 0 ? pushed : [later])]
}
