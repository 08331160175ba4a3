import type { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import type { Delivered, Outgoing } from '../message.ts'

/** How one channel sends. It holds nothing open between two calls. */
export interface Sender {
  /** Where it goes, fit to be shown: "https://ntfy.sh", "mail.home:587". */
  readonly address: string
  /**
   * Milliseconds for which the upstream takes a repeated id for the same message: 0 where it never does. Beyond that
   * a try whose outcome nobody knows is repeated with a remark.
   */
  readonly knowsRepeatsFor: number
  /** Rejects with UpstreamFailure, or with the signal's reason. Tries once. */
  send(message: Outgoing, signal: AbortSignal): Promise<Delivered>
  /**
   * Whether a message whose outcome nobody knows arrived; undefined where it did not or that cannot be told. `isKnown` says
   * whether the upstream's id belongs to another message of ours.
   */
  find?(
    message: Outgoing,
    isKnown: (upstreamId: string) => boolean,
    signal: AbortSignal,
  ): Promise<Delivered | undefined>
  /** Asks the upstream whether it would take something, without sending; resolves with its version where it tells. */
  check?(signal: AbortSignal): Promise<string | undefined>
}

export interface SenderDeps {
  readonly clock: Clock
  /** "Phone": how the channel is called in sentences. */
  readonly title: string
  /** Where its settings stand: "NTFY_URL", "channels.phone of /etc/notifications.yaml". */
  readonly where: string
}

/** One kind of channel: what its entry in the config looks like, and how it sends. */
export interface ChannelKind<Schema extends z.ZodObject = z.ZodObject> {
  readonly kind: string
  /** "Discord (webhook)". */
  readonly title: string
  /** The entry's own keys. */
  readonly schema: Schema
  /** Which of the entry's texts never show: tokens, passwords, addresses that are keys. */
  open(entry: z.output<Schema>, deps: SenderDeps): Sender
}

/** Ties the kind's schema to what opens it. */
export function defineKind<Schema extends z.ZodObject>(kind: ChannelKind<Schema>): ChannelKind {
  const { open } = kind
  return { ...kind, open: (entry, deps) => open(entry as z.output<Schema>, deps) }
}
