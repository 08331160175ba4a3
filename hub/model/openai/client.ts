import type { OpenAI } from 'openai'
import { MAX_DELAY } from '../../core/clock.ts'
import type { Provider } from './provider-error.ts'

/** What providers that want no key get for one; the package insists on it. */
const NO_KEY = 'none'

/** The package's client, loaded at the first call: a hub without a provider never loads it. */
export function createClient({ baseUrl, apiKey }: Provider): () => Promise<OpenAI> {
  let client: Promise<OpenAI> | undefined
  const load = async () => {
    const { OpenAI } = await import('openai')
    // What is not given here, the package reads from the environment.
    return new OpenAI({
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
  }
  return () => {
    client ??= load()
    return client
  }
}
