import { type LabAnswer, type LabRequest, type LabServer, startLab } from '../../hub/demo/http.ts'
import type { Contract } from '../support/openapi.ts'

export const GOTIFY_TOKEN = 'Alabtoken'
export const GOTIFY_CLIENT_TOKEN = 'Clabtoken'

export interface GotifyMessage {
  id: number
  message: string
  title?: string
  priority?: number
  extras?: Record<string, unknown>
}

export interface Gotify extends LabServer {
  /** Messages, oldest first. */
  readonly messages: readonly GotifyMessage[]
  /** Violations of the contract in requests and answers. */
  readonly violations: readonly string[]
}

/** Starts a Gotify with one application. */
export async function startGotify(contract?: Contract): Promise<Gotify> {
  const messages: GotifyMessage[] = []
  const violations: string[] = []
  let sent = 0
  const decide = ({ method, url, headers, body }: LabRequest): LabAnswer => {
    if (method === 'GET' && url.pathname === '/version') {
      return { body: { version: '2.6.3', commit: 'lab', buildDate: '2026-11-01T00:00:00Z' } }
    }
    // An application's token only sends.
    const needed = method === 'DELETE' ? GOTIFY_CLIENT_TOKEN : GOTIFY_TOKEN
    if (headers['x-gotify-key'] !== needed) {
      const errorDescription =
        'you need to provide a valid access token or user credentials to access this api'
      return { status: 401, body: { error: 'Unauthorized', errorCode: 401, errorDescription } }
    }
    if (method === 'DELETE') {
      const index = messages.findIndex(({ id }) => url.pathname === `/message/${id}`)
      if (index >= 0) messages.splice(index, 1)
      const error = { error: 'Not Found', errorCode: 404, errorDescription: 'message does not exist' }
      return index >= 0 ? { body: '' } : { status: 404, body: error }
    }
    const message: GotifyMessage = { ...JSON.parse(body), id: ++sent }
    messages.push(message)
    return { body: { ...message, appid: 1, date: '2026-11-22T12:00:00Z' } }
  }
  const lab = await startLab(request => {
    const answer = decide(request)
    const { method, url, body } = request
    const given = body === '' ? undefined : JSON.parse(body)
    violations.push(
      ...(contract?.request(method, url.pathname, given) ?? []),
      ...(contract?.answer(method, url.pathname, answer.status ?? 200, answer.body) ?? []),
    )
    return answer
  })
  return Object.assign(lab, { messages, violations })
}
