import type { AxiosAdapter } from 'axios'
import type { z } from 'zod'
import type { Method, Upstream } from '../../kit/upstream/upstream.ts'

interface Credentials {
  url: string
  key: string
  version: string
}

/** A part of the SDK's generated client. */
type ClientClass<Client> = new (configuration: unknown, basePath: undefined, axios: unknown) => Client

/**
 * Makes one call with Jellyfin's SDK; its answer must fit `schema`, which is z.undefined() for an empty
 * answer.
 */
export type Ask = <Client, Schema extends z.ZodType>(
  client: ClientClass<Client>,
  call: (client: Client) => Promise<unknown>,
  schema: Schema,
  signal?: AbortSignal,
) => Promise<z.output<Schema>>

/**
 * Creates an `Ask`. It loads the SDK, which takes tens of megabytes, at its first call, and sends requests
 * through the kit's upstream, with its limits and failures.
 */
export function createAsk(upstream: Upstream, { url, key, version }: Credentials): Ask {
  return async (client, call, schema, signal) => {
    const [{ Api }, { default: axios }] = await Promise.all([
      import('@jellyfin/sdk/lib/api.js'),
      import('axios'),
    ])
    let answer: unknown
    const adapter = createAdapter(upstream, url, schema, signal, found => {
      answer = found
    })
    const api = new Api(url, { name: 'Superbloom', version }, DEVICE, key, axios.create({ adapter }))
    await call(new client(api.configuration, undefined, api.axiosInstance))
    return answer as z.output<typeof schema>
  }
}

export const DEVICE = { name: 'Superbloom', id: 'superbloom' }

function createAdapter(
  upstream: Upstream,
  url: string,
  schema: z.ZodType,
  signal: AbortSignal | undefined,
  onAnswer: (answer: unknown) => void,
): AxiosAdapter {
  return async config => {
    const method = (config.method ?? 'get').toUpperCase() as Method
    const path = (config.url ?? '').slice(url.length)
    const body = typeof config.data === 'string' ? { text: config.data, type: 'application/json' } : undefined
    onAnswer(await upstream.send(method, path, { schema, body, signal }))
    return { data: undefined, status: 200, statusText: '', headers: {}, config }
  }
}
