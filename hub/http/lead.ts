import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { LeadOptions, Standby } from '../store/postgres-lease.ts'
import { type Listening, type ListenOptions, listen, toUrl } from './listen.ts'
import { createStandbyApp } from './standby-app.ts'

const OTHER_FILES =
  'The config, agent files or dropped-in servers here differ from those of the hub that led last. Make them the same, or start this hub with --accept-files to lead with its own.'

/** How a hub takes part in who leads. Disposing closes the door at which it waits. */
export interface Lead extends AsyncDisposable {
  readonly options: LeadOptions
  /** True if another hub led when this one started. */
  readonly hasWaited: boolean
  /** Resolves with the reason once another hub leads. */
  readonly taken: Promise<string>
  /** Keeps what the others are told from now on: the address, and the hash of the operator's files. */
  keep(facts: { url?: string; files?: string }): void
}

interface LeadDeps {
  /** Id of the hub's data folder. */
  id: string
  config: Pick<ListenOptions, 'host' | 'port'> & {
    tls: Pick<ListenOptions, 'pair'> | undefined
    publicUrl: string | undefined
  }
  clock: Clock
  log: Log
  /** Reads the hash of the operator's files. */
  readFiles: () => string
  acceptFiles: boolean
  /** Ends the wait with its reason. */
  signal: AbortSignal
  /** Called when the hub begins to wait, and whenever the reason changes. */
  onStandby: (standby: Standby) => void
}

export function createLead(deps: LeadDeps): Lead {
  const { clock, log, signal, acceptFiles } = deps
  const { host, port, tls, publicUrl } = deps.config
  const taken = Promise.withResolvers<string>()
  const facts: { url?: string; files?: string } = {}
  let leader: string | undefined
  let door: Listening | undefined
  const wait = async (standby: Standby) => {
    leader = standby.url
    if (standby.why === 'led') log.info('hub_waits_to_lead', { leader })
    else log.warn('hub_does_not_lead', { leader, message: OTHER_FILES })
    const onRequest = createStandbyApp(() => leader)
    door ??= await listen({ host, port, onRequest, log, pair: tls?.pair })
    deps.onStandby(standby)
  }
  return {
    options: {
      id: deps.id,
      url: () => publicUrl ?? facts.url ?? toUrl(host, port, tls !== undefined),
      files: () => facts.files ?? deps.readFiles(),
      acceptFiles,
      clock,
      log,
      onStandby: wait,
      onTaken: taken.resolve,
      signal,
    },
    get hasWaited() {
      return leader !== undefined
    },
    taken: taken.promise,
    keep: more => void Object.assign(facts, more),
    async [Symbol.asyncDispose]() {
      await door?.[Symbol.asyncDispose]()
      door = undefined
    },
  }
}
