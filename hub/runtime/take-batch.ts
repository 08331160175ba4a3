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

/** What a batch stands behind. */
export interface Before {
  agent: RuntimeAgent
  thread: string
  window: readonly HistoryEntry[]
  anchor: Anchor | undefined
}

/** What left the inbox for a cycle, and how the model is told of it. */
export interface Taken {
  items: InboxItem[]
  /** What waits still: the next batch takes it. */
  hasMore: boolean
  /** Tells the author of a message that it is too long; publish it after the commit. */
  notice: ChatMessage | undefined
  toMessage(facts: BatchFacts): BatchMessage
}

/** At most so many conversations' people share a cycle: each may need steps of its own. */
const MOST_CONVERSATIONS = 8
/** What stands before the summary of what a compaction took out of the window, tokens. */
const FOR_HEAD = 150
/** Of several items so many are taken that this part of the limit stays free for the results of calls. */
const TO_WORK = 1 / 8
/** The part of an item that is shown where the whole does not fit, so that its middle can be read beside it. */
const SHOWN = 0.5
/** However little room there is, so much of an item is shown, tokens. */
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

/** Takes what joins a running cycle between two of its steps; what does not fit waits for the next batch. */
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

/** What people sent beside the messages of a batch; the messages hold it. */
async function picturesOf(tx: Tx, items: readonly InboxItem[]): Promise<{ images?: ModelImage[] }> {
  const images: ModelImage[] = []
  for (const { payload } of items) {
    if (payload.kind !== 'message' || !payload.pictures) continue
    images.push(...(await picturesOfMessage(tx, payload.conversation, payload.pictures.seq)))
  }
  return images.length === 0 ? {} : { images }
}

/** Its number and the line before it. */
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

/** How much of an item's text is shown where the whole has too many tokens. */
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
