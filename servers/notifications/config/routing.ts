import { z } from 'zod'
import { SEVERITIES, type Severity } from '../message.ts'
import type { ChannelConfig } from './channel-entry.ts'

const names = z.union([z.string().transform(name => [name]), z.array(z.string()).min(1)])
const shape = z.strictObject({
  info: names.optional(),
  warning: names.optional(),
  critical: names.optional(),
})

/** Names of channels for each severity. */
type Routing = Readonly<Record<Severity, readonly string[]>>

/**
 * Reads which channels get a message that names none. A severity without a route uses the route of the next
 * lower one, and at last the first channel.
 */
export function readRouting(given: unknown, channels: readonly ChannelConfig[], problems: string[]): Routing {
  const parsed = shape.safeParse(given ?? {})
  if (!parsed.success) {
    problems.push('The routing must be an object with lists of channels for info, warning and critical.')
  }
  let last = channels.slice(0, 1).map(({ name }) => name)
  const entries = SEVERITIES.map(severity => {
    last = (parsed.data?.[severity] ?? last).map(name => toKnown(name, channels, problems))
    return [severity, [...new Set(last)]]
  })
  return Object.fromEntries(entries) as Routing
}

function toKnown(name: string, channels: readonly ChannelConfig[], problems: string[]): string {
  const found = channels.find(channel => channel.name.toLowerCase() === name.toLowerCase())
  if (found) return found.name
  const problem = `The routing names "${name}", which is no channel; there is ${channels.map(one => one.name).join(', ') || 'none'}.`
  if (!problems.includes(problem)) problems.push(problem)
  return name
}
