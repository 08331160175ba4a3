import type { Clock } from '../../core/clock.ts'
import { ModelError } from '../../core/model.ts'
import { toSpan } from '../../core/text.ts'
import { createCallWatch } from './call-watch.ts'
import { createClient } from './client.ts'
import { describeProvider, type Provider } from './provider-error.ts'
import { toSendError } from './send-error.ts'

const TIMEOUT = 10_000

/**
 * The names of the models that a provider lists at `/models`. Throws a ModelError where it cannot be reached, refuses
 * or knows no such list, and the signal's reason when aborted.
 */
export async function listModels(
  { baseUrl, apiKey = '', clock }: { baseUrl: string; apiKey?: string | undefined; clock: Clock },
  { signal }: { signal: AbortSignal },
): Promise<string[]> {
  signal.throwIfAborted()
  const provider = { baseUrl, apiKey: apiKey.trim() }
  using watch = createCallWatch(clock, signal)
  watch.within(TIMEOUT, () => slowError(provider))
  const { openai } = await createClient(provider)()
  const body: unknown = await openai.get('/models', { signal: watch.signal }).catch(error => {
    if (watch.signal.aborted) throw watch.signal.reason
    throw toSendError(provider, error, clock.now())
  })
  const names = toNames(body)
  if (!names)
    throw new ModelError('rejected', `${describeProvider(provider)} lists no models. Check OPENAI_BASE_URL.`)
  return names
}

function toNames(body: unknown): string[] | undefined {
  const list = typeof body === 'object' && body !== null && 'data' in body ? body.data : undefined
  return Array.isArray(list) ? list.map(entry => entry?.id).filter(id => typeof id === 'string') : undefined
}

function slowError(provider: Provider): ModelError {
  return new ModelError(
    'network',
    `${describeProvider(provider)} did not list its models within ${toSpan(TIMEOUT)}.`,
  )
}
