import { type LabAnswer, type LabRequest, type LabServer, startLab } from '../../hub/demo/http.ts'
import type { Contract } from '../support/openapi.ts'

export const GOTIFY_TOKEN = 'Alabtoken'

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
  const decide = ({ method, url, headers, body }: LabRequest): LabAnswer => {
    if (method === 'GET' && url.pathname === '/version') {
      return { body: { version: '2.6.3', commit: 'lab', buildDate: '2026-11-01T00:00:00Z' } }
    }
    if (headers['x-gotify-key'] !== GOTIFY_TOKEN) {
      const errorDescription =
        'you need to provide a valid access token or user credentials to access this api'
      return { status: 401, body: { error: 'Unauthorized', errorCode: 401, errorDescription } }
    }
    const message: GotifyMessage = { ...JSON.parse(body), id: messages.length + 1 }
    messages.push(message)
    return { body: { ...message, appid: 1, date: '2026-11-22T12:00:00Z' } }
  }
  const lab = await startLab(request => {
    const answer = decide(request)
    const { method, url, body } = request
    const sent = body === '' ? undefined : JSON.parse(body)
    violations.push(
      ...(contract?.request(method, url.pathname, sent) ?? []),
      ...(contract?.answer(method, url.pathname, answer.status ?? 200, answer.body) ?? []),
    )
    return answer
  })
  return Object.assign(lab, { messages, violations })
}
