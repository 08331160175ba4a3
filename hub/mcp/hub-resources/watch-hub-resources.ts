import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Signals } from '../../core/signals.ts'
import { agentOfThread } from '../../store/threads.ts'
import { toAgentUri } from './agent-resources.ts'
import { MOST_LISTED, toConversationUri } from './conversation-resources.ts'
import { EVENTS_URI } from './event-resource.ts'
import type { HubPrompts } from './hub-prompts.ts'
import { joinNews } from './join-news.ts'

/** Callbacks for changes; each is called after the change can be read. */
export interface HubResourceNews {
  updated(uri: string): void
  /** Called when resources came or went. */
  listChanged(): void
  promptsChanged(): void
}

export interface WatchDeps {
  signals: Signals
  clock: Clock
  log: Log
  /** Returns the agents whose files are there. */
  agents: () => readonly { name: string; description: string; conversations: readonly string[] }[]
  prompts: HubPrompts
}

/**
 * Reports every change of the hub's own resources and prompts, from its signals. Many changes within a moment
 * are reported once at its beginning and once after its end. Disposing ends it.
 */
export function watchHubResources(deps: WatchDeps, told: HubResourceNews): Disposable {
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
