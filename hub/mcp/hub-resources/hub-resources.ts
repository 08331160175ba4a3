import type { ReadResourceResult, Resource, ResourceTemplateType } from '@modelcontextprotocol/server'
import { withoutPictures } from '../../../schemas/chat.ts'
import { EVENTS_AT_ONCE, type EventFeed } from '../../../schemas/events.ts'
import { conversationId } from '../../../schemas/names.ts'
import { HubError } from '../../core/errors.ts'
import { parseJson } from '../../core/json.ts'
import { readContext } from '../../store/context.ts'
import {
  conversationsBeginning,
  lastSeqOf,
  readMessages,
  recentConversations,
} from '../../store/conversations.ts'
import { eventsAfter, readEventFeed } from '../../store/events.ts'
import { listSchedules } from '../../store/schedules.ts'
import type { EventRow } from '../../store/tables.ts'
import { readAgents } from '../hub-tools/agents.ts'
import { type HubToolReads, takesConversation } from '../hub-tools/deps.ts'
import { toScheduleView } from '../hub-tools/schedules.ts'

const mimeType = 'application/json'
export const EVENTS_URI = 'events://hub'
const AGENTS = 'hub://agents/'
const CONVERSATIONS = 'hub://conversations/'
/** Conversations that are listed besides those of agents' files; the template reaches all. */
export const MOST_LISTED = 50
/** Messages in a conversation's resource; hub_read_messages reads earlier ones. */
const MOST_MESSAGES = 50
/** Ids that a completion proposes: the most that MCP lets one answer hold. */
const MOST_PROPOSED = 100
/** Characters of the longest key that a feed holds. */
const MAX_KEY = 500

export function toAgentUri(name: string): string {
  return `${AGENTS}${name}`
}

export function toConversationUri(id: string): string {
  return `${CONVERSATIONS}${id}`
}

/** Tells whether a URI, or a template of URIs, is the hub's own, even if there is no such resource. */
export function ownsResource(uri: string): boolean {
  return /^hub:|^events:\/\/hub(?:[?{]|$)/i.test(uri)
}

/** Returns the conversation whose resource a URI is; undefined for others, and for the template. */
export function conversationOf(uri: string): string | undefined {
  return uri.startsWith(CONVERSATIONS) && !uri.includes('{') ? restOf(uri, CONVERSATIONS) : undefined
}

/** Returns what follows in a URI. Clients may write the slash of an id as %2F. */
function restOf(uri: string, beginning: string): string {
  return uri.slice(beginning.length).replace(/%2f/gi, '/')
}

interface Kind {
  beginning: string
  template: ResourceTemplateType
  /** Name of the template's argument. */
  argument: string
  /** Lists the resources in a stable order. */
  list(): Promise<Resource[]>
  /** Returns the content, to be written as JSON, by the rest of the URI. Throws `not_found`. */
  read(rest: string): Promise<object>
  /** Returns values of the template's argument that begin with `beginning`. */
  complete(beginning: string): Promise<string[]>
}

export type HubResources = ReturnType<typeof createHubResources>

/** Creates the hub's own resources, which are read anew at each request. */
export function createHubResources(deps: HubToolReads) {
  // In the order in which clients see them.
  const kinds = [createEvents(deps), createAgents(deps), createConversations(deps)]
  const templates = kinds.map(({ template }) => template)
  return {
    templates,
    /** Lists the resources in a stable order; of the conversations only the most recent ones. */
    list: async () => (await Promise.all(kinds.map(kind => kind.list()))).flat(),
    /** Reads a resource. Throws `not_found`. */
    async read(uri: string): Promise<ReadResourceResult> {
      const kind = kinds.find(({ beginning }) => uri.startsWith(beginning))
      if (!kind || !ownsResource(uri)) {
        const known = [EVENTS_URI, ...templates.map(({ uriTemplate }) => uriTemplate)].join(', ')
        throw new HubError('not_found', `There is no resource ${uri}; the hub's own are ${known}`)
      }
      const found = await kind.read(restOf(uri, kind.beginning))
      return { contents: [{ uri, mimeType, text: JSON.stringify(found) }] }
    },
    /** Proposes values for the argument of one of the templates, some hundreds at most; none for others. */
    async complete(template: string, { name, value }: { name: string; value: string }): Promise<string[]> {
      const kind = kinds.find(each => each.template.uriTemplate === template && each.argument === name)
      return kind ? kind.complete(value) : []
    },
  }
}

/**
 * Creates the resource of all events in the infrastructure, however the hub learnt of them, in the shape of a
 * server's feed.
 */
function createEvents({ store: { db } }: HubToolReads): Kind {
  const about = `JSON: {"stream", "cursor", "events": [{"id", "seq", "type", "key", "payload", "at"}]}. Times are unix milliseconds.`
  return {
    beginning: EVENTS_URI,
    template: {
      uriTemplate: `${EVENTS_URI}{?after}`,
      name: 'events-after',
      title: 'Events of the hub after a cursor',
      description: `At most ${EVENTS_AT_ONCE} events after seq number "after", the oldest first; read on from the new cursor until none come. ${about}`,
      mimeType,
    },
    argument: 'after',
    list: async () => [
      {
        uri: EVENTS_URI,
        name: 'events',
        title: 'Events of the hub',
        description: `The last ${EVENTS_AT_ONCE} events. ${about}`,
        mimeType,
      },
    ],
    async read(rest): Promise<EventFeed> {
      const [, given] = /^\?after=(\d{1,15})$/.exec(rest) ?? []
      if (rest !== '' && given === undefined) {
        const uri = `${EVENTS_URI}${rest}`
        throw new HubError('not_found', `There is no resource ${uri}: ${EVENTS_URI}?after=<number> is meant`)
      }
      // Events that arrive during the read stay behind the cursor.
      const { stream, lastSeq } = await readEventFeed(db)
      const after = given === undefined ? Math.max(0, lastSeq - EVENTS_AT_ONCE) : Number(given)
      const events = (await eventsAfter(db, after, EVENTS_AT_ONCE)).map(toServerEvent)
      return { stream, cursor: events.at(-1)?.seq ?? Math.min(after, lastSeq), events }
    },
    complete: async () => [],
  }
}

/** Converts an event. A key that is too long is left out: the payload is a reader's default key. */
function toServerEvent({ id, seq, type, key, payload_json, at }: EventRow): EventFeed['events'][number] {
  const payload = parseJson(payload_json) as Record<string, unknown>
  return { id, seq, type, ...(key.length > MAX_KEY ? {} : { key }), payload, at }
}

/**
 * Creates the resources of agents: an agent as `hub_list_agents` gives it, with its pending wake-ups and the
 * keys of its stored facts.
 */
function createAgents(deps: HubToolReads): Kind {
  const { db } = deps.store
  const present = async () => (await deps.agents()).filter(({ status }) => status !== 'retired')
  return {
    beginning: AGENTS,
    template: {
      uriTemplate: `${AGENTS}{name}`,
      name: 'agent',
      title: 'An agent',
      description:
        'What an agent does now, what it used today, its pending wake-ups, and what it remembers of.',
      mimeType,
    },
    argument: 'name',
    list: async () =>
      (await present()).map(({ name, description }) => ({
        uri: toAgentUri(name),
        name: `agents/${name}`,
        title: `Agent ${name}`,
        ...(description === '' ? {} : { description }),
        mimeType,
      })),
    async read(name) {
      const agents = await readAgents(deps)
      const agent = agents.find(each => each.name === name)
      if (!agent) throw new HubError('not_found', `There is no agent ${name}; agents: ${namesOf(agents)}`)
      const facts = await readContext(db, { scope: 'agent', owner: name })
      return {
        ...agent,
        schedules: (await listSchedules(db, name)).map(toScheduleView),
        contextKeys: facts.map(({ key }) => key),
      }
    },
    complete: async beginning =>
      (await present()).map(({ name }) => name).filter(name => name.startsWith(beginning)),
  }
}

function namesOf(agents: readonly { name: string }[]): string {
  return agents.map(({ name }) => name).join(', ') || 'none'
}

/** Creates the resources of conversations: the last messages of each. */
function createConversations(deps: HubToolReads): Kind {
  const { db } = deps.store
  const named = async () => (await deps.agents()).flatMap(({ conversations }) => conversations)
  return {
    beginning: CONVERSATIONS,
    template: {
      // The `+` keeps the slash of an id as it is.
      uriTemplate: `${CONVERSATIONS}{+id}`,
      name: 'conversation',
      title: 'A conversation',
      description: `The last ${MOST_MESSAGES} messages of a conversation with an agent; hub_read_messages reads earlier ones.`,
      mimeType,
    },
    argument: 'id',
    async list() {
      const ids = new Set([...(await named()), ...(await recentConversations(db, MOST_LISTED))])
      return [...ids].sort().map(id => ({
        uri: toConversationUri(id),
        name: `conversations/${id}`,
        title: `Conversation ${id}`,
        mimeType,
      }))
    },
    async read(id) {
      const lastSeq = await lastSeqOf(db, id)
      const agents = await deps.agents()
      const takers = agents.filter(agent => takesConversation(agent, id)).map(({ name }) => name)
      if (lastSeq === 0 && (takers.length === 0 || !conversationId.safeParse(id).success)) {
        const what = `There is no conversation ${id}: an id is <agent> or <agent>/<slug>`
        throw new HubError('not_found', `${what}; agents: ${namesOf(agents)}`)
      }
      const messages = await readMessages(db, id, Math.max(0, lastSeq - MOST_MESSAGES), MOST_MESSAGES)
      return { conversation: id, agents: takers, messages: messages.map(withoutPictures), lastSeq }
    },
    async complete(beginning) {
      const own = (await named()).filter(id => id.startsWith(beginning))
      const stored = await conversationsBeginning(db, beginning, MOST_PROPOSED)
      return [...new Set([...own, ...stored])].sort()
    },
  }
}
