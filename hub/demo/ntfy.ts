import { systemClock } from '../core/clock.ts'
import { type LabServer, startLab } from './http.ts'

/** A button as ntfy shows it. */
export interface Action {
  action: string
  label: string
  method?: string
  url: string
  body?: string
  clear?: boolean
}

export interface Published {
  id: string
  topic: string
  message: string
  title?: string
  priority?: number
  actions?: Action[]
  sequence_id?: string
}

export interface Ntfy extends LabServer {
  /** Messages, oldest first. */
  readonly published: readonly Published[]
  /** Paths of messages that were removed, "/phone/n1", in order. */
  readonly removed: readonly string[]
}

/** Starts an ntfy that takes messages as JSON (POST /) and as text (POST or PUT /topic), and removes them (2.16 and later). */
export async function startNtfy(onMessage: (message: Published) => void = () => undefined): Promise<Ntfy> {
  const published: Published[] = []
  const removed: string[] = []
  const publish = (message: Omit<Published, 'id'>) => {
    const kept = { id: `lab${published.length + 1}`, ...message }
    published.push(kept)
    onMessage(kept)
    return { body: { ...kept, event: 'message', time: Math.floor(systemClock.now() / 1000) } }
  }
  const lab = await startLab(({ method, url, body, headers }) => {
    const [, topic = ''] = url.pathname.split('/')
    if (url.pathname === '/v1/health') return { body: { healthy: true } }
    if (method === 'GET') return { body: { error: 'not found' }, status: 404 }
    if (method === 'DELETE') {
      removed.push(url.pathname)
      return { body: { id: `lab-removed${removed.length}`, event: 'message_delete', topic } }
    }
    if (topic === '') return publish(JSON.parse(body))
    const title = headers['x-title'] ?? headers['title']
    return publish({ topic, message: body, ...(typeof title === 'string' ? { title } : {}) })
  })
  return Object.assign(lab, { published, removed })
}
