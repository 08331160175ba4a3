import { type LabServer, startLab } from '../../hub/demo/http.ts'

export const APPRISE_KEY = 'homelab'

export interface AppriseMessage {
  body: string
  title?: string
  type: string
  format: string
  tag?: string
  urls?: string
}

export interface Apprise extends LabServer {
  /** Messages, oldest first. */
  readonly messages: readonly AppriseMessage[]
  /** Sets the next answer's status instead of 200: 424 if a service failed. */
  answerOnce(status: number): void
}

/**
 * Starts Apprise's API with one stored configuration. There is no official description, so this follows its
 * documentation.
 */
export async function startApprise(): Promise<Apprise> {
  const messages: AppriseMessage[] = []
  let next: number | undefined
  const lab = await startLab(({ method, url, headers, body }) => {
    if (url.pathname === '/status') return { body: 'OK' }
    const isKnown = url.pathname === '/notify' || url.pathname === `/notify/${APPRISE_KEY}`
    if (method !== 'POST') return { status: 404, body: { error: 'not found' } }
    if (!isKnown) return { status: 204, body: '' }
    const isJson = headers['content-type']?.startsWith('application/json')
    messages.push(isJson ? JSON.parse(body) : readForm(body))
    const status = next ?? 200
    next = undefined
    return {
      status,
      body: status === 200 ? { error: null } : { error: 'One or more notification could not be sent.' },
    }
  })
  return Object.assign(lab, {
    messages,
    answerOnce(status: number) {
      next = status
    },
  })
}

function readForm(body: string): AppriseMessage {
  const fields = body.matchAll(
    /name="(\w+)"(?:; filename="([^"]*)")?[^\r]*\r\n(?:Content-Type[^\r]*\r\n)?\r\n(.*?)\r\n--/gs,
  )
  return Object.fromEntries(
    [...fields].map(([, name, file, text]) => [name, file ?? text]),
  ) as unknown as AppriseMessage
}
