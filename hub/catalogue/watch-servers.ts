import type { Clock } from '../core/clock.ts'
import type { DueSource } from '../core/due.ts'
import type { NewId } from '../core/ids.ts'
import type { Log } from '../core/log.ts'
import type { Signals } from '../core/signals.ts'
import { toSpan } from '../core/text.ts'
import { appendMessage } from '../store/conversations.ts'
import type { Store } from '../store/open.ts'

/** Milliseconds after which a server that is down is reported. */
const LONG_MS = 10 * 60_000
/** States of servers that need not run. */
const UNWANTED: ReadonlySet<string> = new Set(['disabled', 'replaced', 'not_running'])
const DEFAULT_AGENT = 'homelab'

export interface ServersWatch extends DueSource {
  /** Servers that were reported as down, with the time since when. */
  readonly down: ReadonlyMap<string, number>
}

interface Deps {
  store: Store
  clock: Clock
  newId: NewId
  signals: Signals
  log: Log
  agents: { readonly all: readonly { name: string; conversations: readonly string[] }[] }
}
type States = () => readonly { name: string; state: string; error?: string }[]

/** Reports once that a server stays down, and once that it is back. */
export function watchServers(deps: Deps, states: States, stack: AsyncDisposableStack): ServersWatch {
  const { clock, signals, log } = deps
  const since = new Map<string, number>()
  const said = new Map<string, number>()
  const tell = (text: string, tells?: 'failures') =>
    notifyDefaultAgent(deps, text, tells).catch(error => log.error('not_told', { error }))
  const look = () => {
    const wanted = states().filter(({ state }) => !UNWANTED.has(state))
    const known = new Set(wanted.map(({ name }) => name))
    for (const name of since.keys()) if (!known.has(name)) drop(name)
    for (const { name, state } of wanted) {
      if (state === 'ready' || state === 'degraded') forget(name)
      if (state === 'down' && !since.has(name)) {
        since.set(name, clock.now())
        signals.emit('dueTimesChanged', { why: 'server' })
      }
    }
  }
  const drop = (name: string) => {
    since.delete(name)
    return said.delete(name)
  }
  const forget = (name: string) => {
    if (!drop(name)) return
    log.info('server_back', { server: name })
    void tell(`The server ${name} is there again.`)
  }
  stack.defer(signals.on('servers', look))
  return {
    down: said,
    async nextDue() {
      const times = [...since].flatMap(([name, at]) => (said.has(name) ? [] : [at + LONG_MS]))
      return times.length > 0 ? Math.min(...times) : undefined
    },
    async fire() {
      for (const [name, at] of since) {
        if (said.has(name) || clock.now() - at < LONG_MS) continue
        said.set(name, at)
        const error = states().find(server => server.name === name)?.error
        log.error('server_stays_down', { server: name, since: at, error })
        const why = error === undefined ? '' : `: ${error}`
        await tell(
          `The server ${name} has been down for ${toSpan(clock.now() - at)}${why}. Its tools cannot be called; superbloom doctor says how to mend it.`,
          'failures',
        )
      }
    },
  }
}

async function notifyDefaultAgent(
  { store, clock, newId, signals, agents }: Deps,
  text: string,
  tells: 'failures' | undefined,
): Promise<void> {
  const agent = agents.all.find(({ name }) => name === DEFAULT_AGENT) ?? agents.all[0]
  const conversation = agent?.conversations[0]
  if (conversation === undefined) return
  const message = await store.write(tx =>
    appendMessage(tx, {
      id: newId('msg'),
      conversation,
      kind: 'notice',
      author: 'hub',
      text,
      at: clock.now(),
      tells,
    }),
  )
  signals.emit('message', message)
}
