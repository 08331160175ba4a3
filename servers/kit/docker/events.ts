import { z } from 'zod'
import { toHealth } from './answers.ts'
import type { ContainerEvent } from './engine.ts'

/** Largest length of one event; an engine that sends a longer line does not send events. */
const MAX_LINE = 1024 * 1024

/** Event kinds by the first word of the action, as Docker and Podman name it. */
const KINDS: Readonly<Record<string, ContainerEvent['kind']>> = {
  start: 'start',
  kill: 'kill',
  die: 'die',
  died: 'die',
  oom: 'oom',
  health_status: 'health',
  destroy: 'destroy',
  remove: 'destroy',
}

const event = z.object({
  Type: z.string(),
  Action: z.string(),
  Actor: z.object({ ID: z.string(), Attributes: z.record(z.string(), z.string()).nullish() }),
  time: z.number(),
  timeNano: z.number().nullish(),
  HealthStatus: z.string().nullish(),
})

/**
 * Parses a line of the stream; undefined if it is about something else. Throws SyntaxError if it is not an
 * event.
 */
export function toContainerEvent(line: string): ContainerEvent | undefined {
  const parsed = event.safeParse(JSON.parse(line))
  if (!parsed.success) throw new SyntaxError('a line is no event', { cause: parsed.error })
  const { Type, Action, Actor, time, timeNano, HealthStatus } = parsed.data
  const [action = '', detail] = Action.split(': ', 2)
  const attributes = Actor.Attributes ?? {}
  // Podman reports a restart before it ends the container, Docker after it started it again.
  const kind = action === 'restart' && 'podId' in attributes ? 'kill' : KINDS[action]
  if (Type !== 'container' || kind === undefined) return undefined
  const exitCode = attributes['exitCode'] ?? attributes['containerExitCode']
  const health = toHealth(detail ?? HealthStatus ?? attributes['health_status'])
  return {
    kind,
    id: Actor.ID,
    name: attributes['name'] ?? Actor.ID.slice(0, 12),
    exitCode: kind === 'die' && exitCode !== undefined ? Number(exitCode) : undefined,
    health: kind === 'health' ? health : undefined,
    at: timeNano ? Math.floor(timeNano / 1_000_000) : time * 1000,
  }
}

/**
 * Yields the lines of a stream as they arrive; its chunks may end anywhere. Throws SyntaxError for a line
 * without end.
 */
export async function* readLines(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > MAX_LINE) throw new SyntaxError('a line does not end')
    for (const line of lines) if (line.trim() !== '') yield line
  }
  if (rest.trim() !== '') yield rest
}
