import { type MessageButton, withoutButtonKeys } from '../../schemas/message-buttons.ts'
import { type NotifySettings, PAGE_CHANNEL } from '../../schemas/notify.ts'
import { decideBackoff } from '../core/backoff.ts'
import type { Clock } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import { isObject } from '../core/forwarding.ts'
import { parseJson } from '../core/json.ts'
import type { Log } from '../core/log.ts'
import { isLoopback } from '../core/loopback.ts'
import { isOwn } from '../core/principal.ts'
import type { Signals } from '../core/signals.ts'
import { findApproval } from '../store/approvals.ts'
import { messageOfNotification } from '../store/conversations.ts'
import { readCycle } from '../store/cycles.ts'
import { authorsOfCycle } from '../store/inbox.ts'
import {
  endNotification,
  firstNotification,
  postponeNotification,
  renewNotifications,
} from '../store/notifications.ts'
import type { Store } from '../store/open.ts'
import type { ApprovalRow, MessageRow, NotificationRow } from '../store/tables.ts'
import { readPeople } from '../store/tokens.ts'
import type { Tx } from '../store/writer.ts'
import type { Buttons } from './buttons.ts'
import { type Notice, toApprovalNotice, toButtons, toMessageNotice, toOutcome } from './notice.ts'

const BACKOFF = { first: 5_000, longest: 10 * 60_000 }
/** Tries of one notification, over some hours. */
const MOST_TRIES = 20
/** Milliseconds after which it is seen again whether the person still looks at what waits. */
const LOOK_MS = 60_000
/** Milliseconds for which a message is news. */
const NEWS_MS = 60 * 60_000
/** Milliseconds for which a channel may ask to be left alone. */
const LONGEST_WAIT_MS = 60 * 60_000

/** The place that messages are sent with. */
export interface Channel {
  /**
   * Hands a message over. A repeated idempotency key sends nothing twice. Resolves with the receipt in words;
   * throws why it was not taken.
   */
  send(
    message: { channel: string; title: string; message: string; key: string },
    options: {
      idempotencyKey: string
      buttons: readonly MessageButton[]
      conversation: string | null
      /** It takes the place of an earlier message with its key. */
      isUpdate: boolean
      signal: AbortSignal
    },
  ): Promise<string>
}

/** Says why a channel did not take a message, and for how long it wants to be left alone. */
export class NotTaken extends Error {
  readonly waitMs: number

  constructor(message: string, waitMs: number) {
    super(message)
    this.waitMs = waitMs
  }
}

export interface NotifierDeps {
  store: Store
  clock: Clock
  log: Log
  signals: Signals
  channel: Channel
  buttons: Pick<Buttons, 'makeKey'>
  /** Tells whether the owner looks at a conversation now. */
  isLookedAt: (conversation: string) => boolean
  /** Returns the settings as they are now; undefined where nobody wants to be notified. */
  settings: () => (NotifySettings & { publicUrl: string | undefined; timezone: string }) | undefined
}

/** Sends the notifications that the store holds, each once, also over a crash. */
export interface Notifier extends AsyncDisposable {
  /** Sends what is due, now and from now on. Call it once the servers have settled. */
  begin(): void
}

export function createNotifier(deps: NotifierDeps): Notifier {
  const { store, clock, log, signals } = deps
  const stopping = new AbortController()
  let begun = false
  let cancel: (() => void) | undefined
  let turn: Promise<void> = Promise.resolve()
  const run = async () => {
    cancel?.()
    for (;;) {
      const row = await firstNotification(store.db)
      if (!row || stopping.signal.aborted) return
      const wait = (row.due_at ?? 0) - clock.now()
      if (wait > 0) {
        cancel = clock.after(wait, wake)
        return
      }
      await deliver(deps, row, stopping.signal)
    }
  }
  const wake = () => {
    if (!begun || stopping.signal.aborted || !deps.settings()) return
    turn = turn.then(run).catch(error => {
      if (!stopping.signal.aborted) log.error('notifications_stopped', { error })
    })
  }
  const offs = [
    signals.on('approval', wake),
    signals.on('message', ({ kind }) => {
      if (kind !== 'user' && kind !== 'tool') wake()
    }),
  ]
  return {
    begin() {
      begun = true
      wake()
    },
    async [Symbol.asyncDispose]() {
      for (const off of offs) off()
      stopping.abort()
      await turn
      cancel?.()
    },
  }
}

/** Tries once to send a notification, and stores what came of it. */
async function deliver(deps: NotifierDeps, row: NotificationRow, signal: AbortSignal): Promise<void> {
  const { store, clock, log } = deps
  const { id, state } = row
  const settings = deps.settings()
  const read = state === 'due' ? readNotice : readOutcome
  const notice = settings && (await read(deps, row, settings))
  if (notice === 'later') {
    const due_at = clock.now() + LOOK_MS
    return store.write(tx => postponeNotification(tx, id, { attempts: row.attempts, due_at }))
  }
  if (!notice) return store.write(tx => endNotification(tx, id, state === 'due' ? 'over' : state))
  const { channel } = settings
  const attempts = row.attempts + 1
  // The try is counted before it begins: after a crash, what was tried may have arrived.
  await store.write(tx => postponeNotification(tx, id, { attempts, due_at: row.due_at }))
  try {
    const { title, conversation, isUpdate } = notice
    const more = {
      idempotencyKey: `notify:${id}${isUpdate ? ':over' : ''}`,
      buttons: await notice.buttons(),
      conversation,
      isUpdate,
      signal,
    }
    const message = toText(notice, channel)
    const receipt = await deps.channel.send({ channel, key: id, title, message }, more)
    await store.write(tx => endTry(tx, notice, { id, state: 'sent', at: clock.now() }))
    log.info('notification_sent', { about: row.about, id, channel, receipt: withoutButtonKeys(receipt) })
  } catch (error) {
    // The next start tries it again.
    if (signal.aborted) return
    const isLast = attempts >= MOST_TRIES
    const why = withoutButtonKeys(describeError(error))
    log.warn('notification_not_sent', { about: row.about, id, channel, attempts, again: !isLast, error: why })
    const asked = error instanceof NotTaken ? Math.min(error.waitMs, LONGEST_WAIT_MS) : 0
    const due_at = clock.now() + Math.max(asked, decideBackoff(attempts, BACKOFF))
    await store.write(tx =>
      isLast
        ? endTry(tx, notice, { id, state: 'failed', at: clock.now() })
        : postponeNotification(tx, id, { attempts, due_at }),
    )
  }
}

/** Ends a notification. If its approval was decided during the try, what became of it is due at once. */
async function endTry(
  tx: Tx,
  { isUpdate }: Pick<Readied, 'isUpdate'>,
  { id, state, at }: { id: string; state: 'sent' | 'failed'; at: number },
): Promise<void> {
  await endNotification(tx, id, state)
  const approval = isUpdate ? undefined : await findApproval(tx, id)
  if (approval && approval.status !== 'open') await renewNotifications(tx, [id], at)
}

type Settings = NonNullable<ReturnType<NotifierDeps['settings']>>
type Readied = Notice & { buttons: () => Promise<MessageButton[]>; isUpdate: boolean }

/** Returns what to send; undefined for nothing, and `later` while the person looks at what waits for them. */
async function readNotice(
  deps: NotifierDeps,
  row: NotificationRow,
  settings: Settings,
): Promise<Readied | 'later' | undefined> {
  const { id, about, attempts, created_at } = row
  const { store, clock, isLookedAt } = deps
  if (!settings.about.includes(about)) return undefined
  const { publicUrl: page, timezone } = settings
  if (about === 'approvals') {
    const approval = await findApproval(store.db, id)
    const isOpen = approval?.status === 'open' && approval.expires_at > clock.now()
    if (!isOpen) return attempts === 0 ? undefined : readOutcome(deps, row, settings)
    if (approval.conversation_id !== null && isLookedAt(approval.conversation_id)) return 'later'
    const { isWhole, ...notice } = toApprovalNotice(
      approval,
      { page, timezone },
      await authorsOfCycle(store.db, approval.cycle_id),
    )
    return {
      ...notice,
      buttons: () => makeButtons(deps, settings, isWhole ? approval : undefined),
      isUpdate: false,
    }
  }
  const message = await messageOfNotification(store.db, id)
  if (!message) return undefined
  // A message to somebody else of the house is theirs; a failure is the owner's to mend.
  const people = about === 'reminders' ? await readPeople(store.db) : []
  if (people.some(one => isOwn(one, message.conversation_id))) return undefined
  // Work that waits for its model is told once the person has left it; that it waited is no news.
  const wait = await findWait(store.db, message)
  const isLooked = isLookedAt(message.conversation_id)
  if (wait === 'lasts' && isLooked) return 'later'
  // A message that was old before notifications were switched on is no news.
  const isOld = wait === undefined && attempts === 0 && created_at < clock.now() - NEWS_MS
  if (wait === 'over' || isOld || isLooked) return undefined
  return { ...toMessageNotice(message, { page, timezone }), buttons: async () => [], isUpdate: false }
}

/**
 * Returns what became of an approval; undefined for browsers that may not have been told of it. The notifications server
 * knows what it has sent, and may still have what it could not send at once.
 */
async function readOutcome(
  { store }: NotifierDeps,
  { id, state }: NotificationRow,
  { channel, timezone }: Settings,
): Promise<Readied | undefined> {
  const mayBeTold = state === 'sent' || channel !== PAGE_CHANNEL
  const approval = mayBeTold ? await findApproval(store.db, id) : undefined
  if (!approval || approval.status === 'open') return undefined
  const { title, conversation } = toApprovalNotice(approval, { page: undefined, timezone })
  const message = toOutcome(approval)
  return { title, message, footer: undefined, conversation, buttons: async () => [], isUpdate: true }
}

/** Returns the whole text. A browser's notification leads to the conversation by itself. */
function toText({ message, footer }: Notice, channel: string): string {
  return footer === undefined || channel === PAGE_CHANNEL ? message : `${message}\n\n${footer}`
}

/** Makes the buttons of an approval. Each try has a key of its own, since earlier ones are not stored. */
async function makeButtons(
  { buttons }: Pick<NotifierDeps, 'buttons'>,
  { private: isPrivate, publicUrl, channel }: Settings,
  approval: ApprovalRow | undefined,
): Promise<MessageButton[]> {
  // A browser reaches the hub where it opened the page.
  const page = channel === PAGE_CHANNEL ? undefined : publicUrl
  const isReachable = channel === PAGE_CHANNEL || (page !== undefined && !isLoopback(new URL(page).hostname))
  // The answer to a question has words, which a button does not take.
  if (!isPrivate || !isReachable || !approval || approval.question_json !== null) return []
  return toButtons(page, await buttons.makeKey(approval.id))
}

/** Tells whether the work that a message says waits for its model still does; undefined for other messages. */
async function findWait(
  db: Store['db'],
  { data_json, cycle_id }: MessageRow,
): Promise<'lasts' | 'over' | undefined> {
  const data = data_json === null ? undefined : parseJson(data_json)
  if (!isObject(data) || data['parked'] !== true || cycle_id === null) return undefined
  const { parked_at, status } = await readCycle(db, cycle_id)
  return status === 'running' && parked_at !== null ? 'lasts' : 'over'
}
