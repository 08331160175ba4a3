import type { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import type { Delivered, Earlier, Outgoing } from '../message.ts'

/** Sends on one channel. A sender keeps nothing open between two calls. */
export interface Sender {
  /** The upstream's address without secrets: "https://ntfy.sh", "mail.home:587". */
  readonly address: string
  /**
   * Milliseconds for which the upstream drops a repeated id; absent if it never does. After that, a retry
   * whose earlier outcome is unknown carries a remark.
   */
  readonly knowsRepeatsFor?: number
  /** Tries once. Rejects with UpstreamFailure, or with the signal's reason. */
  send(message: Outgoing, signal: AbortSignal): Promise<Delivered>
  /**
   * Looks for a message whose outcome is unknown; undefined if it did not arrive or the upstream cannot tell.
   * `isKnown` tells whether an upstream id belongs to another of our messages.
   */
  find?(
    message: Outgoing,
    isKnown: (upstreamId: string) => boolean,
    signal: AbortSignal,
  ): Promise<Delivered | undefined>
  /**
   * Has a message take the place of an earlier one, or removes that one; what is gone already is no failure. May be
   * repeated. Rejects as `send` does.
   */
  replace?(earlier: Earlier, message: Outgoing, signal: AbortSignal): Promise<Delivered>
  /**
   * Checks without sending that the upstream accepts messages; resolves with its version, a string, if it
   * reports one.
   */
  check?(signal: AbortSignal): Promise<unknown>
}

export interface SenderDeps {
  readonly clock: Clock
  /** The channel's name in sentences: "Phone". */
  readonly title: string
  /** The place of its settings: "NTFY_URL", "channels.phone of /etc/notifications.yaml". */
  readonly where: string
}

/** One kind of channel: the shape of its config entry, and how it sends. */
export interface ChannelKind<Schema extends z.ZodObject = z.ZodObject> {
  readonly kind: string
  /** The kind's name for people: "Discord (webhook)". */
  readonly title: string
  /** The keys that only this kind's entry has. */
  readonly schema: Schema
  /** True if its messages can have buttons. */
  readonly hasButtons?: true
  /**
   * Opens a sender. The entry's secrets (tokens, passwords, addresses that contain a key) never appear in
   * output.
   */
  open(entry: z.output<Schema>, deps: SenderDeps): Sender
}

/** Ties the kind's schema to its `open`. */
export function defineKind<Schema extends z.ZodObject>(kind: ChannelKind<Schema>): ChannelKind {
  const { open } = kind
  return { ...kind, open: (entry, deps) => open(entry as z.output<Schema>, deps) }
}
