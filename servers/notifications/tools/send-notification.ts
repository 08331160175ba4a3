import type { Database } from 'better-sqlite3'
import { z } from 'zod'
import { BUTTONS, messageButtons, REPLACES } from '../../../schemas/message-buttons.ts'
import type { Clock } from '../../kit/clock.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { cleanText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import type { Channels } from '../channels/channels.ts'
import type { ChannelConfig } from '../config/channel-entry.ts'
import { severity } from '../message.ts'
import { type Accepted, type Answer, accept } from '../outbox/accept.ts'
import type { OpenOutbox, Outbox } from '../outbox/outbox.ts'
import { areSettled, findRow } from '../outbox/receipts.ts'
import { type Replaced, replace } from '../outbox/replace.ts'
import { readPicture } from '../text/picture.ts'
import { type Receipt, receipt, toReceipt, toReceiptText } from './receipt.ts'

/** Milliseconds for which a call waits for the first try on a channel. */
const WAIT = 8_000
/** Number of further channels that a call tries; all waits together stay below a call's time limit. */
const MOST_NEXT = 2
const MAX_MESSAGE = 20_000

/** Line above a message that a text from outside led to. */
const FROM_OUTSIDE =
  '(A text from outside led to this message: check it before you open a link or do what it says.)'

/** Removes control characters except line ends and tabs. */
const withoutControls = (text: string) => text.toWellFormed().replace(/[^\P{Cc}\n\t]/gu, '')
const toOneLine = (text: string) => cleanText(text, 1000)

const toInput = (channels: Channels) =>
  z.strictObject({
    message: z.string().overwrite(withoutControls).trim().min(1).max(MAX_MESSAGE).describe('Markdown'),
    channel: toChannelField(channels),
    title: z.string().overwrite(toOneLine).trim().min(1).max(250).optional(),
    severity: severity.default('info').describe('critical may wake people in quiet hours'),
    image: z
      .string()
      .optional()
      .describe('PNG, JPEG, GIF or WebP: base64 (5 MiB at most) or its http(s) address'),
    key: z.string().trim().min(1).max(200).optional().describe('what it is about, such as "disk_full:/srv"'),
  })

const output = z.object({ deliveries: z.array(receipt).describe('what became of it, by channel') })

export interface SendDeps {
  channels: Channels
  outbox: Outbox
  clock: Clock
  timezone: string
  newId: () => string
}

/** `send_notification`: an accepted message is on the disk, and is kept until it is delivered or given up. */
export function sendNotification(deps: SendDeps): Tool {
  const { channels, outbox, clock, timezone, newId } = deps
  return defineTool({
    name: 'send_notification',
    title: 'Send a notification',
    description:
      'Sends a message to people (phone, chat, mail) who are not in this conversation. It cannot be taken ' +
      'back. It is tried until it arrives, for a day: do not send it again because it is held or retrying. ' +
      'The same message (or key) within minutes is sent once.',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    reachesOwnChannels: true,
    input: toInput(channels),
    output,
    async run(given, signal, _report, { idempotencyKey, isForeign, meta }) {
      const targets = channels.pick(given.channel, given.severity)
      // The address of a picture could carry away what the work has read.
      const picture = given.image === undefined || isForeign ? undefined : readPicture(given.image)
      const { title, severity: grade, key } = given
      const buttons = messageButtons.catch([]).parse(meta?.[BUTTONS])
      const text = isForeign ? `${FROM_OUTSIDE}\n\n${given.message}` : given.message
      const opened = await outbox.open()
      signal.throwIfAborted()
      const message = { title, text, severity: grade, picture, buttons, key }
      if (meta?.[REPLACES] === true) {
        const replaced = replaceEarlier(deps, opened, targets, message)
        return { data: { deliveries: [] }, text: replaced, untrusted: false }
      }
      const send = async (to: readonly ChannelConfig[], requestKey: string | undefined) => {
        const accepted = { ...message, idempotencyKey: requestKey, channels: to, now: clock.now() }
        const answer = accept(opened.database, accepted, newId)
        opened.dispatcher.wake()
        await untilSettled(clock, opened, answer, signal)
        return toDeliveries(opened.database, channels, answer)
      }
      const deliveries = await send(targets, idempotencyKey)
      // A channel decides who reads the message, so only a message that names no channel may go to another
      // one.
      const others = given.channel === undefined ? channels.besides(targets).slice(0, MOST_NEXT) : []
      for (const next of others) {
        if (signal.aborted || deliveries.some(isTaken)) break
        deliveries.push(...(await send([next], idempotencyKey && `${idempotencyKey}:${next.name}`)))
      }
      throwIfNoneTook(deliveries, channels)
      return {
        data: { deliveries },
        text: deliveries.map(one => toReceiptText(one, timezone)),
        untrusted: deliveries.some(({ reason }) => reason !== undefined),
      }
    },
  })
}

const REPLACED = {
  accepted: 'it takes the place of the earlier message',
  withdrawn: 'the earlier message had not gone out, and is not sent any more',
  nothing: 'nothing is changed',
} as const satisfies Record<Replaced, string>

/** Has a message take the place of the earlier one with its key; the outbox tries it until it is done. */
function replaceEarlier(
  { channels, clock, newId }: SendDeps,
  { database, dispatcher }: OpenOutbox,
  targets: readonly ChannelConfig[],
  message: Omit<Accepted, 'channels' | 'idempotencyKey' | 'now'>,
): string[] {
  const done = targets.map(channel => {
    const given = { ...message, channels: [channel], idempotencyKey: undefined, now: clock.now() }
    const { sender } = channels.all.find(({ config }) => config === channel) ?? {}
    const canReplace = sender?.replace !== undefined
    return `On ${channel.name}, ${REPLACED[replace(database, given, { channel, canReplace }, newId)]}.`
  })
  dispatcher.wake()
  return done
}

/**
 * A receipt; `isSilent` means that the channel has not answered: the message may still arrive, but that is
 * not certain.
 */
type Delivery = Receipt & { isSilent: boolean }

function toDeliveries(database: Database, channels: Channels, { tickets }: Answer): Delivery[] {
  return tickets.flatMap(({ id, isDuplicate }) => {
    const row = findRow(database, id)
    if (row === undefined) return []
    const isOpen = row.due !== null && row.status !== 'held'
    const one = toReceipt(row, channels.titleOf(row.channel), isDuplicate && !isOpen)
    const isSilent = isOpen && (row.status !== 'retrying' || row.failure?.kind === 'timeout')
    return [{ ...one, ...(isSilent && one.reason === undefined ? SILENCE : {}), isSilent }]
  })
}

const SILENCE = {
  reason: `it has not answered for ${WAIT / 1000} s`,
  fix: 'Look whether it runs and whether its address is right.',
}
const isTaken = ({ status }: Receipt) => ['sent', 'held', 'duplicate'].includes(status)

/**
 * Waits for the first tries. A client that disconnects cancels nothing: the accepted message is still sent.
 */
function untilSettled(
  clock: Clock,
  { database, dispatcher }: OpenOutbox,
  { tickets }: Answer,
  signal: AbortSignal,
): Promise<void> {
  const ids = tickets.map(({ id }) => id)
  const { promise, resolve } = Promise.withResolvers<void>()
  const look = () => {
    if (areSettled(database, ids)) resolve()
  }
  const ends = [clock.after(WAIT, resolve), dispatcher.onTried(look)]
  signal.addEventListener('abort', () => resolve(), { once: true })
  look()
  return promise.finally(() => {
    for (const end of ends) end()
  })
}

/**
 * Throws if every channel failed or stayed silent. A channel that reports an error and will be retried has
 * not failed yet.
 */
function throwIfNoneTook(deliveries: readonly Delivery[], channels: Channels): void {
  const [first] = deliveries
  const isLost = ({ status, isSilent }: Delivery) => status === 'failed' || isSilent
  if (first === undefined || !deliveries.every(isLost)) return
  const isKept = deliveries.some(({ status }) => status !== 'failed')
  const others = channels.besides(deliveries.map(({ channel }) => ({ name: channel })))
  const kept = 'It is kept and tried again for a day, so do not send it there again.'
  const instead = others.length > 0 ? ` Another channel is ${others.map(({ name }) => name).join(', ')}.` : ''
  const reasons = deliveries.map(({ channel, reason }) =>
    deliveries.length > 1 ? `${channel}: ${reason ?? 'it was refused'}` : (reason ?? 'it was refused'),
  )
  throw new ToolFailure({
    what: `The notification ${isKept ? 'has not arrived' : 'was not sent'}${deliveries.length > 1 ? ` on any of ${deliveries.length} channels` : ''}.`,
    where: deliveries.map(({ channel, kind }) => `${channel} (${kind})`).join(', '),
    why: [...new Set(reasons)].join('; '),
    fix:
      [...new Set([...(isKept ? [kept] : []), ...deliveries.map(({ fix }) => fix ?? '')])].join(' ') +
      instead,
  })
}

/** Returns the channel's field. It lists the names for models, and accepts them in any case. */
function toChannelField({ all }: Channels) {
  const names = all.map(({ config }) => config.name)
  const kinds = all.map(({ config }) => `${config.name} (${config.kind.title})`).join(', ')
  const known = kinds === '' ? '' : `${kinds}; `
  return z
    .string()
    .trim()
    .min(1)
    .optional()
    .meta(names.length > 0 ? { enum: names } : {})
    .describe(`${known}default: by severity`)
}
