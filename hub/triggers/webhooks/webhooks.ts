import type { HookEvent, HookOutcome } from '../../../schemas/webhooks.ts'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import { digest, mapHook } from './map-hook.ts'
import { readBody } from './read-body.ts'

/** One request to a hook, whose sender is authenticated. */
export interface Delivery {
  hook: string
  contentType: string | undefined
  /** The sender's id of this delivery; it is the same for each try. */
  id: string | undefined
  body: Buffer
  /** Whether the operator trusts what its sender writes. */
  isTrusted: boolean
}

export interface WebhooksDeps {
  clock: Clock
  log: Log
  /** Posts the events; resolves once all of them are on the disk. */
  post: (events: readonly HookEvent[]) => Promise<HookOutcome[]>
}

/**
 * Creates a function that posts deliveries as events `webhook.<hook>` and resolves once they are on the disk.
 * A repeated delivery gives the outcomes of the first. Throws `bad_request` for a body that cannot be read.
 */
export function createWebhooks({
  clock,
  log,
  post,
}: WebhooksDeps): (delivery: Delivery) => Promise<HookOutcome[]> {
  return async ({ hook, contentType, id, body, isTrusted }) => {
    const mapped = mapHook(hook, readBody(contentType, body), body)
    const at = clock.now()
    const power = isTrusted ? ('routine' as const) : ('foreign' as const)
    const events = mapped.map(({ key, payload, ...content }, index): HookEvent => {
      const once =
        id === undefined
          ? { kind: 'content' as const, ...content }
          : { kind: 'id' as const, id: `${digest(id)}:${index}` }
      return { source: `webhook:${hook}`, type: `webhook.${hook}`, key, payload, at, power, once }
    })
    const outcomes = await post(events)
    log.debug('webhook_taken', { hook, events: outcomes.map(({ id }) => id) })
    return outcomes
  }
}
