import type { ChatMessage } from '../../schemas/chat.ts'
import type { ModelImage } from '../core/model.ts'
import { toItem } from '../core/show-item.ts'
import { appendMessage, picturesOfMessage } from '../store/conversations.ts'
import type { HistoryEntry } from '../store/history.ts'
import { type InboxItem, takeItems } from '../store/inbox.ts'
import type { Tx } from '../store/writer.ts'
import { type BatchFacts, type BatchMessage, showItem, toBatch, toUpdate } from './batch.ts'
import { type BatchRoom, decideBatch, decideUpdate, type SizedItem } from './decide-batch.ts'
import type { RuntimeAgent, RuntimeDeps } from './deps.ts'
import { tokensInForce } from './limits/cycle-tokens.ts'
import { toPreamble } from './prompt.ts'
import { roomForSummary } from './summary.ts'
import { takeEventsOf } from './taken-events.ts'
import { type Anchor, MOST_PICTURE_TOKENS, tokensOfAll, tokensOfPreamble } from './tokens.ts'
import { toMarks } from './window.ts'

/** The thread before its batch: the agent, and the window that the batch follows. */
export interface Before {
  agent: RuntimeAgent
  thread: string
  window: readonly HistoryEntry[]
  anchor: Anchor | undefined
}

/** Items that left the inbox for a cycle, and how the model is told of them. */
export interface Taken {
  items: InboxItem[]
  /** Whether items still wait, which the next batch takes. */
  hasMore: boolean
  /** Message that tells an author that theirs is too long; publish it after the commit. */
  notice: ChatMessage | undefined
  toMessage(facts: BatchFacts): BatchMessage
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

/** Takes the batch with which a cycle begins: people's messages first, and no more than the window holds. */
export async function takeBatch(
  deps: RuntimeDeps,
  tx: Tx,
  cycle: string,
  { waiting, facts, ...before }: Before & { waiting: readonly InboxItem[]; facts: BatchFacts },
): Promise<Taken> {
  const sized = sizeItems(deps, before.agent, waiting, facts.now)
  const room = measureRoom(deps, before, facts)
  const { items, cut } = decideBatch(sized, room, before.agent)
  await takeItems(tx, cycle, items)
  const told = await takeEventsOf(tx, items)
  const pictures = await picturesOf(tx, told)
  const longest = cut && charactersShown(cut, room.most)
  return {
    items: told,
    hasMore: items.length < waiting.length,
    notice: cut && longest !== undefined ? await tellTooLong(deps, tx, cut.item, longest) : undefined,
    toMessage: all => ({ ...toBatch(told, all, longest), ...pictures }),
  }
}

/** Takes items that join a running cycle between two steps; what does not fit waits for the next batch. */
export async function takeUpdate(
  deps: RuntimeDeps,
  tx: Tx,
  cycle: string,
  { waiting, facts, ...before }: Before & { waiting: readonly InboxItem[]; facts: BatchFacts },
): Promise<Taken> {
  const sized = sizeItems(deps, before.agent, waiting, facts.now)
  const items = decideUpdate(sized, measureRoom(deps, before, facts))
  await takeItems(tx, cycle, items)
  const told = await takeEventsOf(tx, items)
  const pictures = await picturesOf(tx, told)
  const toMessage = (all: BatchFacts) => ({ ...toUpdate(told, all), ...pictures })
  return { items: told, hasMore: items.length < waiting.length, notice: undefined, toMessage }
}

function sizeItems(
  deps: RuntimeDeps,
  agent: RuntimeAgent,
  items: readonly InboxItem[],
  now: number,
): SizedItem[] {
  const { name } = deps.model(agent.model)
  return items.map(item => ({
    item,
    tokens:
      deps.tokens.estimate(name, showItem(item, now)) + picturesIn(item) * MOST_PICTURE_TOKENS + PER_ITEM,
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

/** Tokens of an item's number and the line before it. */
const PER_ITEM = 4

function measureRoom(
  deps: RuntimeDeps,
  { agent, thread, window, anchor }: Before,
  facts: BatchFacts,
): BatchRoom {
  const model = deps.model(agent.model)
  const marks = toMarks(model, tokensInForce(deps, agent))
  const preamble = toPreamble(deps, { agent, thread })
  const own = deps.tokens.estimate(model.name, toBatch([], facts).text)
  const space = marks.hard - own - deps.tokens.count(model.name, preamble, window, anchor)
  const summary = roomForSummary(tokensOfAll(window)) + FOR_HEAD
  const most = Math.max(LEAST_SHOWN, space, marks.hard - own - tokensOfPreamble(preamble) - summary)
  const conversations = Math.max(1, Math.min(MOST_CONVERSATIONS, Math.floor(agent.limits.steps / 4)))
  return { free: space - marks.limit * TO_WORK, most, conversations }
}

/** Returns how many characters of an item's text are shown if the whole has too many tokens. */
function charactersShown({ item, tokens }: SizedItem, most: number): number {
  return Math.max(LEAST_SHOWN, Math.floor(toItem(item).text.length * (most / tokens) * SHOWN))
}

async function tellTooLong(
  deps: RuntimeDeps,
  tx: Tx,
  { payload }: InboxItem,
  shown: number,
): Promise<ChatMessage | undefined> {
  if (payload.kind !== 'message') return undefined
  const { conversation, messageId, text } = payload
  const half = Math.floor(shown / 2).toLocaleString('en')
  return appendMessage(tx, {
    id: deps.newId('msg'),
    conversation,
    kind: 'notice',
    author: 'hub',
    text: `This message is too long to be read at once (${text.length.toLocaleString('en')} characters): the agent sees its first and last ${half} characters, and can look up what stands between.`,
    at: deps.clock.now(),
    inReplyTo: [messageId],
    data: { cut: true },
  })
}
