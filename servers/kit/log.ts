import type { Clock } from './clock.ts'

/** Writes one event; `fields` contain nothing secret. */
export type Log = (level: 'info' | 'warn' | 'error', event: string, fields?: Record<string, unknown>) => void

/** Writes one JSON line per event to stderr: on stdio, stdout belongs to the protocol. */
export function createLog(server: string, clock: Clock): Log {
  return (level, event, fields) => {
    const entry = { time: clock.now(), level, server, event, ...fields }
    process.stderr.write(`${JSON.stringify(entry, toPlain)}\n`)
  }
}

/** Returns the message of any thrown value, with its causes. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : `: ${describeError(error.cause)}`
  return `${error.message || error.name}${cause}`
}

function toPlain(_key: string, value: unknown): unknown {
  return value instanceof Error ? describeError(value) : value
}
