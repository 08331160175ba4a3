import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Signals } from '../../core/signals.ts'
import { agentOfThread } from '../../store/threads.ts'
import type { HubPrompts } from './hub-prompts.ts'
import { EVENTS_URI, MOST_LISTED, toAgentUri, toConversationUri } from './hub-resources.ts'

interface WatchDeps {
  signals: Signals
  clock: Clock
  log: Log
  /** Returns the agents whose files are there. */
  agents: () => readonly { name: string; description: string; conversations: readonly string[] }[]
  prompts: HubPrompts
}

/**
 * Reports every change of the hub's own resources and prompts, from its signals, once it can be read. Many
 * changes within a moment are reported once at its beginning and once after its end. Disposing ends it.
 */
export function watchHubResources(
  deps: WatchDeps,
  told: { updated(uri: string): void; listChanged(): void; promptsChanged(): void },
): Disposable {
  const { signals } = deps
  const news = joinNews(deps)
  const update = (uri: string) => news.add(uri, () => told.updated(uri))
  const updateAgent = (name: string) => update(toAgentUri(name))
  const changeList = () => news.add('list', told.listChanged)
  const isNew = createRecent(MOST_LISTED)
  const known = createKnown(deps)
  const updateAll = () => known.names().forEach(updateAgent)
  const ofThread = ({ thread }: { thread: string }) => updateAgent(agentOfThread(thread))
  const offs = [
    signals.on('message', ({ conversation }) => {
      update(toConversationUri(conversation))
      if (isNew(conversation)) changeList()
    }),
    signals.on('forgotten', ({ conversation }) => {
      update(toConversationUri(conversation))
      changeList()
      updateAll()
    }),
    signals.on('event', () => update(EVENTS_URI)),
    signals.on('agent', ({ name }) => updateAgent(name)),
    signals.on('schedules', ({ agent }) => updateAgent(agent)),
    signals.on('approval', ({ agent }) => updateAgent(agent)),
    signals.on('posted', ofThread),
    signals.on('stepCommitted', ofThread),
    signals.on('cycleEnded', ofThread),
    signals.on('idle', ofThread),
    signals.on('released', updateAll),
    signals.on('agents', () => {
      const before = known.names()
      const changed = known.look()
      for (const name of new Set([...before, ...known.names()])) updateAgent(name)
      if (changed.list) changeList()
      if (changed.prompts) news.add('prompts', told.promptsChanged)
    }),
  ]
  return {
    [Symbol.dispose]() {
      for (const off of offs) off()
      news[Symbol.dispose]()
    },
  }
}

/** Returns a function that tells whether an id was not among the last `most` that it got. */
function createRecent(most: number): (id: string) => boolean {
  const recent = new Set<string>()
  return id => {
    const isNew = !recent.delete(id)
    recent.add(id)
    const [oldest] = recent
    if (recent.size > most && oldest !== undefined) recent.delete(oldest)
    return isNew
  }
}

/** Remembers the agents and prompts as of the last `look`. */
function createKnown({ agents, prompts }: Pick<WatchDeps, 'agents' | 'prompts'>) {
  const look = () => ({
    names: agents().map(({ name }) => name),
    list: JSON.stringify(
      agents().map(({ name, description, conversations }) => [name, description, conversations]),
    ),
    prompts: JSON.stringify(prompts.list()),
  })
  let last = look()
  return {
    names: () => last.names,
    look() {
      const before = last
      last = look()
      return { list: last.list !== before.list, prompts: last.prompts !== before.prompts }
    },
  }
}

/** Milliseconds after a notification in which further ones are joined. */
const JOIN_MS = 100

/**
 * Joins notifications of many things with one timer at most, none in quiet times. The first after a quiet
 * time is sent at once, the last of a burst always. Disposing drops what still waits.
 */
function joinNews({ clock, log }: { clock: Clock; log: Log }) {
  let waiting = new Map<string, () => void>()
  let cancel: (() => void) | undefined
  const notifyOne = (key: string, tell: () => void) => {
    try {
      tell()
    } catch (error) {
      log.error('news_not_told', { key, error })
    }
  }
  const rest = () => {
    cancel = clock.after(JOIN_MS, () => {
      const all = waiting
      waiting = new Map()
      cancel = undefined
      if (all.size > 0) rest()
      for (const [key, tell] of all) notifyOne(key, tell)
    })
  }
  return {
    /** Calls `tell` now or soon, once for all that is added meanwhile under the same key. */
    add(key: string, tell: () => void) {
      if (cancel) return void waiting.set(key, tell)
      rest()
      notifyOne(key, tell)
    },
    [Symbol.dispose]() {
      cancel?.()
      waiting.clear()
    },
  }
}
