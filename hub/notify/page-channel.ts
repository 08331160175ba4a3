import { PAGE_CHANNEL } from '../../schemas/notify.ts'
import type { PushMessage, PushSubscription } from '../../schemas/push.ts'
import type { Clock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import { plural } from '../core/text.ts'
import type { PushRow } from '../store/door-tables.ts'
import { keepPushKeys, type PushKeys, readPushKeys } from '../store/hub-state.ts'
import type { Store } from '../store/open.ts'
import {
  deletePushSubscription,
  listPushSubscriptions,
  savePushSubscription,
} from '../store/push-subscriptions.ts'
import { type Channel, NotTaken } from './notifier.ts'
import { type Pushed, push } from './push-request.ts'

const MOST_REMEMBERED = 100
const NOBODY = 'no browser takes notifications: open the page, and switch them on in its Settings'
const NOT_SET =
  'The hub sends no notifications to browsers: choose this browser under “Where to be told”, or write notify: { channel: page, private: true } into superbloom.yaml.'

export interface PageChannelDeps {
  store: Store
  clock: Clock
  log: Log
  /** Sends to addresses that browsers name. */
  pushFetch: typeof fetch
  settings: () => { channel: string; publicUrl: string | undefined } | undefined
}

/** Sends notifications to the owner's browsers by web push. */
export interface PageChannel extends Channel {
  /** Returns the key that browsers subscribe with, and why nothing is sent to them, if so. */
  state(): Promise<{ publicKey: string; problem?: string }>
  /** Takes the browser of a session; false if the token is no session's. */
  add(token: string, subscription: PushSubscription): Promise<boolean>
  remove(token: string): Promise<void>
  /** Sends a message to the browser of a session. Throws `not_found` without one, and `unavailable` with the reason. */
  test(token: string): Promise<void>
  /** Returns why nothing can be sent. */
  problems(): Promise<string[]>
}

export function createPageChannel(deps: PageChannelDeps): PageChannel {
  const { store, clock, log, settings } = deps
  const list = () => listPushSubscriptions(store.db, clock.now())
  const isSet = () => settings()?.channel === PAGE_CHANNEL
  /** The browsers that have a message which others have not got yet, by the message's key. */
  const reached = new Map<string, Set<string>>()
  return {
    async send({ title, message: text, key }, { buttons, conversation, isUpdate, signal }) {
      const rows = await list()
      const done = reached.get(key) ?? new Set()
      const message = { tag: key, title, text, conversation, ...(isUpdate ? { isOver: true } : { buttons }) }
      const waiting = rows.filter(({ endpoint }) => !done.has(endpoint))
      const failures = await Promise.all(
        waiting.map(async row => {
          const pushed = await pushTo(deps, row, message, signal)
          if (pushed.kind === 'sent') done.add(row.endpoint)
          return pushed.kind === 'failed' ? pushed : undefined
        }),
      )
      reached.delete(key)
      // Others wait for no browser that will not take it: the page subscribes anew when it is opened there.
      const failed = failures.find(failure => failure && (!failure.isFinal || done.size === 0))
      if (failed) {
        remember(reached, key, done)
        throw new NotTaken(failed.why, failed.waitMs)
      }
      if (done.size === 0) throw new HubError('unavailable', NOBODY)
      for (const failure of failures) if (failure) log.warn('push_refused', { why: failure.why })
      return `Sent to ${plural(done.size, 'browser')}.`
    },
    async state() {
      const { publicKey } = await keysOf(store)
      return { publicKey, ...(isSet() ? {} : { problem: NOT_SET }) }
    },
    add: (token, { endpoint, keys }) =>
      store.write(tx =>
        savePushSubscription(tx, { token_id: token, endpoint, ...keys, created_at: clock.now() }),
      ),
    remove: token => store.write(tx => deletePushSubscription(tx, token)),
    async test(token) {
      const row = (await list()).find(each => each.token_id === token)
      if (!row) throw new HubError('not_found', 'This browser takes no notifications.')
      const text = 'Notifications of the hub reach this device.'
      const message = { tag: 'test', title: 'Superbloom', text, conversation: null }
      const pushed = await pushTo(deps, row, message, new AbortController().signal)
      if (pushed.kind === 'gone')
        throw new HubError(
          'unavailable',
          'The push service of this browser forgot it: switch off and on again.',
        )
      if (pushed.kind === 'failed') throw new HubError('unavailable', pushed.why)
    },
    problems: async () => ((await list()).length === 0 ? [`notify in superbloom.yaml: ${NOBODY}`] : []),
  }
}

/** Keeps which browsers have a message, of the newest messages alone: some are given up before all browsers have them. */
function remember(reached: Map<string, Set<string>>, key: string, done: Set<string>): void {
  const [oldest] = reached.keys()
  if (oldest !== undefined && reached.size >= MOST_REMEMBERED) reached.delete(oldest)
  reached.set(key, done)
}

/** Sends to one browser, and forgets one that is gone. */
async function pushTo(
  { store, log, pushFetch, settings }: PageChannelDeps,
  { token_id, endpoint, p256dh, auth }: PushRow,
  message: PushMessage,
  signal: AbortSignal,
): Promise<Pushed> {
  const deps = {
    fetch: pushFetch,
    keys: await keysOf(store),
    publicUrl: settings()?.publicUrl,
    signal,
  }
  const pushed = await push({ endpoint, keys: { p256dh, auth } }, message, deps)
  const { host } = new URL(endpoint)
  if (pushed.kind === 'failed') return { ...pushed, why: `${host} did not take it: ${pushed.why}` }
  if (pushed.kind === 'gone') {
    await store.write(tx => deletePushSubscription(tx, token_id))
    log.info('push_subscription_gone', { session: token_id, host })
  }
  return pushed
}

/** Returns the hub's key pair; the first use makes it. */
async function keysOf({ db, write }: Pick<Store, 'db' | 'write'>): Promise<PushKeys> {
  const known = await readPushKeys(db)
  if (known) return known
  const { default: webPush } = await import('web-push')
  const made = webPush.generateVAPIDKeys()
  return write(tx => keepPushKeys(tx, made))
}
