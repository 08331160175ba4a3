import type { APIError, OpenAI } from 'openai'
import { MAX_DELAY } from '../../core/clock.ts'
import type { Provider } from './provider-error.ts'

/** The package's client for one provider, and the error that it makes of a refusal. */
export interface Client {
  openai: OpenAI
  APIError: typeof APIError
}

/** What providers that want no key get for one; the package insists on it. */
const NO_KEY = 'none'

/** The package's client, loaded at the first call: a hub without a provider never loads it. */
export function createClient({ baseUrl, apiKey }: Provider): () => Promise<Client> {
  let loaded: Promise<Client> | undefined
  const load = async () => {
    const { OpenAI, APIError } = await import('openai')
    // What is not given here, the package reads from the environment.
    const openai = new OpenAI({
      baseURL: baseUrl,
      apiKey: apiKey || NO_KEY,
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      maxRetries: 0,
      timeout: MAX_DELAY,
      logLevel: 'off',
    })
    return { openai, APIError }
  }
  return () => {
    loaded ??= load()
    return loaded
  }
}
