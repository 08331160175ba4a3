import type { Clock } from '../../core/clock.ts'
import { ModelError } from '../../core/model.ts'
import { openWireCall } from '../wire/wire-call.ts'
import { toClientOptions } from './chat-adapter.ts'
import { describeProvider } from './provider-error.ts'

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
  using call = openWireCall({ provider, clock, signal, timeout: TIMEOUT, takesDocument: false })
  const { OpenAI } = await import('openai')
  const body: unknown = await Promise.resolve()
    .then(() =>
      new OpenAI({ ...toClientOptions(baseUrl, provider.apiKey), fetch: call.fetch }).get('/models'),
    )
    .catch(error => {
      throw call.toError(error)
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
