import { z } from 'zod'
import type { Clock } from '../../../kit/clock.ts'
import { quote } from '../../../kit/text.ts'
import { UpstreamFailure } from '../../../kit/upstream/failure.ts'
import { createUpstream, type RequestOptions } from '../../../kit/upstream/upstream.ts'
import { type TransmissionInstance, transmissionSpec } from '../../config.ts'
import { toRefused } from '../refused.ts'

const HEADER = 'x-transmission-session-id'
/** Number of new session ids that one call accepts. */
const MAX_HANDSHAKES = 2
const FORBIDDEN = [403, 421]

export type Rpc = ReturnType<typeof openRpc>

/**
 * Opens Transmission's RPC (its docs/rpc-spec.md): a 409 returns the session id that every request must have.
 */
export function openRpc(instance: TransmissionInstance, clock: Clock) {
  const { title, settings, variables } = instance
  const { USERNAME: username = '', PASSWORD: password = '' } = settings
  const basic = Buffer.from(`${username}:${password}`).toString('base64')
  const { url, path } = splitAddress(settings.URL)
  const upstream = createUpstream({
    name: instance.name,
    title,
    url,
    problem: instance.problem,
    headers: username || password ? { authorization: `Basic ${basic}` } : {},
    secrets: [password],
    settings: {
      url: variables.URL,
      key: `${variables.USERNAME} and ${variables.PASSWORD}`,
      where: transmissionSpec.settings.USERNAME.where,
    },
    clock,
  })
  let session = ''
  const send = <Schema extends z.ZodType>(schema: Schema, json: unknown, options: RequestOptions) =>
    upstream
      .send('POST', path, { ...options, schema, body: { json }, headers: { [HEADER]: session } })
      .catch(error => {
        throw toForbidden(error, variables.URL)
      })
  const shake = async (options: RequestOptions) => {
    const answer = await upstream.raw('POST', path, {
      ...options,
      body: { json: { method: 'session-stats' } },
      headers: { [HEADER]: session },
      accept: [409],
    })
    session = answer.headers.get(HEADER) ?? session
  }
  return {
    title,
    address: upstream.address,
    /** Returns `arguments` of the answer. Reads are retried after a broken connection. */
    async call<Schema extends z.ZodType>(
      method: string,
      given: Record<string, unknown>,
      schema: Schema,
      options: Pick<RequestOptions, 'signal' | 'limit' | 'read'> = {},
    ): Promise<z.output<Schema>> {
      const answerSchema = z.union([
        z.object({ result: z.literal('success'), arguments: schema }),
        z.object({ result: z.string().refine(result => result !== 'success') }),
      ])
      for (let shaken = 0; ; shaken++) {
        try {
          const answer = await send(answerSchema, { method, arguments: given }, options)
          if ('arguments' in answer) return answer.arguments as z.output<Schema>
          throw toRefused(title, upstream.address, `it says ${quote(answer.result)}`)
        } catch (error) {
          const isHandshake = error instanceof UpstreamFailure && error.status === 409
          if (!isHandshake || shaken >= MAX_HANDSHAKES) throw error
          await shake(options)
        }
      }
    },
  }
}

/** Splits the address of Transmission ("http://nas:9091"), of its page, or of the RPC itself. */
function splitAddress(url: string): { url: string; path: string } {
  if (url.endsWith('/rpc')) return { url: url.slice(0, -'/rpc'.length), path: '/rpc' }
  const page = url.replace(/\/web$/, '')
  return { url: page, path: page.endsWith('/transmission') ? '/rpc' : '/transmission/rpc' }
}

/** Explains Transmission's 403 and 421, its answers to unknown addresses and host names. */
function toForbidden(error: unknown, variable: string): unknown {
  if (!(error instanceof UpstreamFailure) || !FORBIDDEN.includes(error.status ?? 0)) return error
  const { failure, kind, status } = error
  const fix = `Add this machine's address to rpc-whitelist and the host of ${variable} to rpc-host-whitelist in its settings.json.`
  return new UpstreamFailure({ ...failure, kind, status, fix }, { cause: error })
}
