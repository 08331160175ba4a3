import { z } from 'zod'
import { type Failure, ToolFailure, toFailure } from '../../kit/failure.ts'
import { foreignText } from '../../kit/foreign.ts'
import type { Text } from '../../kit/render.ts'
import type { NamedClient } from '../upstreams/clients.ts'

/** A failed client, in an output. */
export const failedClient = z.object({
  client: z.string(),
  reason: foreignText(600, 'what went wrong and what to do'),
})
type Failed = z.input<typeof failedClient>

/**
 * Asks all clients in parallel; a failed one does not stop the others. If all fail, it throws the failure of
 * the only one, or one failure that lists all.
 */
export async function onClients<Value>(
  clients: readonly NamedClient[],
  what: string,
  ask: (client: NamedClient) => Promise<Value>,
): Promise<{ done: { name: string; value: Value }[]; failed: Failed[] }> {
  const settled = await Promise.allSettled(clients.map(async client => ask(client)))
  const done: { name: string; value: Value }[] = []
  const failed: Failed[] = []
  const failures: Failure[] = []
  for (const [index, { name, title }] of clients.entries()) {
    const one = settled[index]
    if (one?.status === 'fulfilled') done.push({ name, value: one.value })
    else {
      const failure = toFailure(one?.reason, title)
      failures.push(failure)
      failed.push({ client: name, reason: `${failure.what} Why: ${failure.why}. ${failure.fix}` })
    }
  }
  if (done.length === 0) throw toAllFailed(what, failures)
  return { done, failed }
}

/** Returns a tool's outcome: its data and lines, and the clients that failed. */
export function withFailed<Data extends object>(data: Data, lines: Text, failed: Failed[]) {
  return { data: { ...data, failed }, text: [lines, toFailedLines(failed)], untrusted: failed.length > 0 }
}

/** Returns a line for each failed client. */
export function toFailedLines(failed: readonly Failed[]): string[] {
  return failed.map(({ client, reason }) => `${client} failed: ${reason}`)
}

function toAllFailed(what: string, failures: readonly Failure[]): ToolFailure {
  const [first] = failures
  if (first && failures.length === 1) return new ToolFailure(first)
  return new ToolFailure({
    what,
    where: failures.map(({ where }) => where).join('; '),
    why: failures.map(failure => `${failure.what} ${failure.why}`).join('; '),
    fix: failures.map(({ fix }) => fix).join(' '),
  })
}
