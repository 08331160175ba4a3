import { createBuckets } from '../../core/rate-limit.ts'
import { createWebhooks, type WebhooksDeps } from './webhooks.ts'

/** Rate limit of one webhook. Each delivery becomes a row and may wake an agent. */
const DELIVERIES = { perSecond: 10, burst: 300 }

type Entries = Readonly<Record<string, { secret?: string | undefined; trusted?: boolean | undefined }>>

/** Opens the webhooks with what the config says of each by then. */
export function openWebhooks(deps: WebhooksDeps, webhooks: () => Entries) {
  const { clock } = deps
  const mayPass = createBuckets(DELIVERIES)
  const entryOf = (hook: string) => {
    const entries = webhooks()
    return Object.hasOwn(entries, hook) ? entries[hook] : undefined
  }
  return {
    clock,
    secretOf: (hook: string) => entryOf(hook)?.secret,
    isTrusted: (hook: string) => entryOf(hook)?.trusted === true,
    mayPass: (hook: string) => mayPass(hook, clock.monotonic()),
    take: createWebhooks(deps),
  }
}
