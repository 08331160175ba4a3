import { toIso } from './clock.ts'
import { describeError } from './errors.ts'
import { escapeUnseen } from './text.ts'

const LEVELS = { debug: 10, info: 20, warn: 30, error: 40 } as const
export type LogLevel = keyof typeof LEVELS
export type LogFields = Record<string, unknown>

/** Writes one event per call; `fields` hold nothing secret. An `error` field is written with its causes. */
export interface Log {
  debug(event: string, fields?: LogFields): void
  info(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  error(event: string, fields?: LogFields): void
  /** Returns a log that adds these fields to every line. */
  with(fields: LogFields): Log
}

export interface LogOptions {
  level: LogLevel
  now: () => number
  write: (line: string) => void
  /** True for lines that a person reads at a terminal, instead of JSON. */
  pretty?: boolean
}

export function createLog(options: LogOptions, bound: LogFields = {}): Log {
  const at = (level: LogLevel) => (event: string, fields?: LogFields) => {
    if (LEVELS[level] < LEVELS[options.level]) return
    const entry = { time: toIso(options.now()), level, event, ...bound, ...fields }
    options.write(options.pretty ? toPretty(entry) : escapeUnseen(JSON.stringify(entry, toPlain)))
  }
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: fields => createLog(options, { ...bound, ...fields }),
  }
}

function toPlain(_key: string, value: unknown): unknown {
  if (value instanceof Error) return describeError(value)
  return typeof value === 'bigint' ? String(value) : value
}

function toPretty({
  time,
  level,
  event,
  ...fields
}: LogFields & { time: string; level: LogLevel; event: string }) {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined)
  const rest = known.map(([key, value]) => {
    const plain = toPlain(key, value)
    return `${key}=${typeof plain === 'string' ? plain : JSON.stringify(plain, toPlain)}`
  })
  // Text of others must not steer the terminal, nor look like a line of its own.
  const line = [time.slice(11, 19), level.toUpperCase().padEnd(5), event, ...rest].join(' ')
  return escapeUnseen(line).replaceAll('\n', '\\n')
}
