import type { EventFact } from '../../schemas/inbox.ts'
import { HUB } from '../../schemas/tokens.ts'
import type { ModelImage } from '../core/model.ts'
import { toItem } from '../core/show-item.ts'
import { openApprovalsOf } from '../store/approvals.ts'
import { factsOf } from '../store/context.ts'
import { appendMessage, picturesOfMessage } from '../store/conversations.ts'
import { takeEvents } from '../store/events.ts'
import type { HistoryEntry } from '../store/history.ts'
import { type InboxItem, takeItems } from '../store/inbox.ts'
import { pendingOf } from '../store/pending.ts'
import { activeSchedulesOf } from '../store/schedules.ts'
import { runningTasksOf } from '../store/tasks.ts'
import type { Tx } from '../store/writer.ts'
import { type BatchFacts, type BatchMessage, showItem, toBatch, toUpdate } from './batch.ts'
import { decideContextUpdate } from './context-update.ts'
import { type BatchRoom, decideBatch, decideUpdate, type SizedItem } from './decide-batch.ts'
import type { RuntimeAgent, RuntimeDeps } from './deps.ts'
import { tokensInForce } from './limits/cycle-tokens.ts'
import { toPreamble } from './prompt.ts'
import { roomForSummary } from './summary.ts'
import { type Anchor, MOST_PICTURE_TOKENS, tokensOfAll, tokensOfPreamble } from './tokens.ts'
import { toThresholds } from './window.ts'

export type BatchDeps = Pick<
  RuntimeDeps,
  'clock' | 'newId' | 'timezone' | 'model' | 'tokens' | 'toolBox' | 'toolLists'
>

/** The thread before its next message: the agent, and the window that the message follows. */
interface Before {
  agent: RuntimeAgent
  thread: string
  window: readonly HistoryEntry[]
  anchor: Anchor | undefined
  /** Items that the cycle took before. */
  earlier?: readonly InboxItem[]
}

/** Items that left the inbox for a cycle, and how the model is told of them. */
interface Taken {
  items: InboxItem[]
  /** Whether items still wait, which the next batch takes. */
  hasMore: boolean
  message(facts: BatchFacts): BatchMessage
  /** The one item that is too long to be shown whole, and the number of its characters that are shown. */
  cut: { item: InboxItem; characters: number } | undefined
}

/** Conversations that share a cycle at most: the people of each may need steps of its own. */
const MOST_CONVERSATIONS = 8
/** Tokens of the text that precedes the summary of what a compaction took out of the window. */
const FOR_HEAD = 150
/** The part of the limit that stays free for the results of calls when several items are taken. */
const TO_WORK = 1 / 8
/** The part of the room that a too long item is shown in, so that its middle can be read beside it. */
const SHOWN = 0.5
/** Tokens of an item that are shown, however little room there is. */
const LEAST_SHOWN = 200
/** Tokens of an item's number and the line before it. */
const PER_ITEM = 4

/**
 * Takes waiting items into a cycle, no more than the window holds; the rest waits for the next batch. A `batch`
 * begins the cycle, with people's messages first; an `update` joins it between two steps.
 */
export async function takeItemsInto(
  deps: BatchDeps,
  tx: Tx,
  cycle: string,
  kind: 'batch' | 'update',
  { waiting, facts, ...before }: Before & { waiting: readonly InboxItem[]; facts: BatchFacts },
): Promise<Taken> {
  const sized = sizeItems(deps, before.agent, waiting, facts.now)
  const room = measureRoom(deps, before, facts)
  const { items, cut } =
    kind === 'batch'
      ? decideBatch(sized, room, before.agent)
      : { items: decideUpdate(sized, room), cut: undefined }
  await takeItems(tx, cycle, items)
  const repeats = await takeEvents(
    tx,
    items.flatMap(item => eventOf(item)?.id ?? []),
  )
  const taken = items.map(item => withRepeats(item, repeats.get(eventOf(item)?.id ?? '') ?? 0))
  const pictures = await picturesOf(tx, taken)
  const characters = cut && charactersShown(cut, room.most)
  const toMessage = (all: BatchFacts) =>
    kind === 'batch' ? toBatch(taken, all, characters) : toUpdate(taken, all)
  return {
    items: taken,
    hasMore: items.length < waiting.length,
    message: ({ timezone, ...all }) => ({
      ...toMessage({
        ...all,
        timezone: zoneOf([...(before.earlier ?? []), ...taken], timezone),
        hubTimezone: timezone,
      }),
      ...pictures,
    }),
    cut: cut && characters !== undefined ? { item: cut.item, characters } : undefined,
  }
}

function eventOf({ payload }: InboxItem): EventFact | undefined {
  if (payload.kind === 'event') return payload.event
  return payload.kind === 'wake' ? payload.early : undefined
}

/** Returns the item with how often its event was repeated. */
function withRepeats(item: InboxItem, repeats: number): InboxItem {
  const { payload } = item
  if (repeats === 0) return item
  if (payload.kind === 'event')
    return { ...item, payload: { ...payload, event: { ...payload.event, repeats } } }
  if (payload.kind === 'wake' && payload.early)
    return { ...item, payload: { ...payload, early: { ...payload.early, repeats } } }
  return item
}

function sizeItems(
  { model, tokens }: BatchDeps,
  agent: RuntimeAgent,
  items: readonly InboxItem[],
  now: number,
): SizedItem[] {
  const { name } = model(agent.model)
  return items.map(item => ({
    item,
    tokens: tokens.estimate(name, showItem(item, now)) + picturesIn(item) * MOST_PICTURE_TOKENS + PER_ITEM,
  }))
}

function picturesIn({ payload }: InboxItem): number {
  return payload.kind === 'message' ? (payload.pictures?.count ?? 0) : 0
}

/** Reads the pictures that people sent with a batch's messages; the conversation's messages hold them. */
async function picturesOf(tx: Tx, items: readonly InboxItem[]): Promise<{ images?: ModelImage[] }> {
  const images: ModelImage[] = []
  for (const { payload } of items) {
    if (payload.kind !== 'message' || !payload.pictures) continue
    images.push(...(await picturesOfMessage(tx, payload.conversation, payload.pictures.seq)))
  }
  return images.length === 0 ? {} : { images }
}

function measureRoom(
  deps: BatchDeps,
  { agent, thread, window, anchor }: Before,
  facts: BatchFacts,
): BatchRoom {
  const model = deps.model(agent.model)
  const { hard, limit } = toThresholds(model, tokensInForce(deps, agent))
  const preamble = toPreamble(deps, { agent, thread })
  const own = deps.tokens.estimate(model.name, toBatch([], facts).text)
  const space = hard - own - deps.tokens.count(model.name, preamble, window, anchor)
  const summary = roomForSummary(tokensOfAll(window)) + FOR_HEAD
  const most = Math.max(LEAST_SHOWN, space, hard - own - tokensOfPreamble(preamble) - summary)
  const conversations = Math.max(1, Math.min(MOST_CONVERSATIONS, Math.floor(agent.limits.steps / 4)))
  return { free: space - limit * TO_WORK, most, conversations }
}

/** Returns how many characters of an item's text are shown if the whole has too many tokens. */
function charactersShown({ item, tokens }: SizedItem, most: number): number {
  return Math.max(LEAST_SHOWN, Math.floor(toItem(item).text.length * (most / tokens) * SHOWN))
}

/** Writes the notice that tells an author that their message is too long; undefined for any other item. */
export async function appendTooLong(
  { newId }: Pick<BatchDeps, 'newId'>,
  tx: Tx,
  { item, characters }: NonNullable<Taken['cut']>,
  now: number,
) {
  const { payload } = item
  if (payload.kind !== 'message') return undefined
  const { conversation, messageId, text } = payload
  const half = Math.floor(characters / 2).toLocaleString('en')
  return appendMessage(tx, {
    id: newId('msg'),
    conversation,
    kind: 'notice',
    author: HUB,
    text: `This message is too long to be read at once (${text.length.toLocaleString('en')} characters): the agent sees its first and last ${half} characters, and can look up what stands between.`,
    at: now,
    inReplyTo: [messageId],
    data: { cut: true },
  })
}

/** Reads what the next user message tells besides its items, given the window before it. */
export async function readFacts(
  { timezone }: Pick<BatchDeps, 'timezone'>,
  tx: Tx,
  at: Pick<Before, 'agent' | 'thread' | 'window'> & { replyTo: string | null; now: number },
): Promise<BatchFacts> {
  const { agent, now, replyTo, thread, window } = at
  const has = await pendingOf(tx, agent.name, thread)
  const mayHaveTasks = has.task !== null && (!agent.task || agent.task.mayMakeTasks)
  const stored = has.fact === null ? [] : await factsOf(tx, agent.name, thread)
  return {
    now,
    replyTo,
    schedules: has.schedule === null ? [] : await activeSchedulesOf(tx, thread),
    approvals: has.approval === null ? [] : await openApprovalsOf(tx, thread),
    tasks: mayHaveTasks ? await runningTasksOf(tx, thread) : [],
    inTask: agent.task !== undefined,
    timezone,
    conversations: agent.conversations,
    context: decideContextUpdate(
      window.map(({ content }) => content),
      stored,
    ),
  }
}

/** Returns the time zone in which a cycle thinks: that of the newest item which has one, else the hub's. */
export function zoneOf(items: readonly InboxItem[], hubZone: string): string {
  const zones = items.map(({ payload }) => ('timezone' in payload ? payload.timezone : undefined))
  return zones.findLast(zone => zone !== undefined) ?? hubZone
}

/** Returns how a thread sleeps: `waiting` while it has open approvals. */
export function toResting({ approvals }: Pick<BatchFacts, 'approvals'>): 'sleeping' | 'waiting' {
  return approvals.length > 0 ? 'waiting' : 'sleeping'
}
