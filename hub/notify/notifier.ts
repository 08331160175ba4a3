import { type MessageButton, withoutButtonKeys } from '../../schemas/message-buttons.ts'
import type { NotifySettings } from '../../schemas/notify.ts'
import { decideBackoff } from '../core/backoff.ts'
import type { Clock } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import { isLoopback } from '../core/loopback.ts'
import type { Signals } from '../core/signals.ts'
import { findApproval } from '../store/approvals.ts'
import { endNotification, firstNotification, postponeNotification } from '../store/notifications.ts'
import type { Store } from '../store/open.ts'
import type { ApprovalRow, NotificationRow } from '../store/tables.ts'
import { toButtons, toNotice } from './approval-notice.ts'
import type { Buttons } from './buttons.ts'

const BACKOFF = { first: 5_000, longest: 10 * 60_000 }
/** Tries of one notification, over some hours. */
const MOST_TRIES = 20

/** The place that messages are sent with. */
export interface Channel {
  /**
   * Hands a message over. A repeated idempotency key sends nothing twice. Resolves with the receipt in words;
   * throws why it was not taken.
   */
  send(
    message: { channel: string; title: string; message: string; key: string },
    options: { idempotencyKey: string; buttons: readonly MessageButton[]; signal: AbortSignal },
  ): Promise<string>
}

export interface NotifierDeps {
  store: Store
  clock: Clock
  log: Log
  signals: Signals
  channel: Channel
  buttons: Pick<Buttons, 'makeKey'>
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
    if (!begun || stopping.signal.aborted) return
    turn = turn.then(run).catch(error => {
      if (!stopping.signal.aborted) log.error('notifications_stopped', { error })
    })
  }
  const off = signals.on('approval', ({ status }) => {
    if (status === 'open') wake()
  })
  return {
    begin() {
      begun = true
      wake()
    },
    async [Symbol.asyncDispose]() {
      off()
      stopping.abort()
      await turn
      cancel?.()
    },
  }
}

/** Tries once to send a notification, and stores what came of it. */
async function deliver(deps: NotifierDeps, row: NotificationRow, signal: AbortSignal): Promise<void> {
  const { store, clock, log } = deps
  const { id } = row
  const settings = deps.settings()
  const approval = await findApproval(store.db, id)
  const isWanted = approval?.status === 'open' && approval.expires_at > clock.now()
  if (!settings || !isWanted) return store.write(tx => endNotification(tx, id, 'over'))
  const { channel } = settings
  try {
    const receipt = await send(deps, settings, approval, signal)
    await store.write(tx => endNotification(tx, id, 'sent'))
    log.info('notification_sent', { approval: id, channel, receipt: withoutButtonKeys(receipt) })
  } catch (error) {
    // The next start tries it again.
    if (signal.aborted) return
    const attempts = row.attempts + 1
    const isLast = attempts >= MOST_TRIES
    const why = withoutButtonKeys(describeError(error))
    log.warn('notification_not_sent', { approval: id, channel, attempts, again: !isLast, error: why })
    const due_at = clock.now() + decideBackoff(attempts, BACKOFF)
    await store.write(tx =>
      isLast ? endNotification(tx, id, 'failed') : postponeNotification(tx, id, { attempts, due_at }),
    )
  }
}

/** Sends a message about an approval. Each try has a key of its own, since earlier ones are not stored. */
async function send(
  { channel, buttons }: Pick<NotifierDeps, 'channel' | 'buttons'>,
  settings: NonNullable<ReturnType<NotifierDeps['settings']>>,
  approval: ApprovalRow,
  signal: AbortSignal,
): Promise<string> {
  const { id, question_json } = approval
  const { publicUrl: page, timezone } = settings
  const { isWhole, ...notice } = toNotice(approval, { page, timezone })
  const reachable = page !== undefined && !isLoopback(new URL(page).hostname) ? page : undefined
  // The answer to a question has words, which a button does not take.
  const hasButtons = settings.private && reachable !== undefined && question_json === null && isWhole
  return channel.send(
    { channel: settings.channel, key: id, ...notice },
    {
      idempotencyKey: `notify:${id}`,
      buttons: hasButtons ? toButtons(reachable, await buttons.makeKey(id)) : [],
      signal,
    },
  )
}
