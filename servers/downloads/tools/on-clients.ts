import { z } from 'zod'
import { type Failure, ToolFailure, toFailure } from '../../kit/failure.ts'
import { foreignText } from '../../kit/foreign.ts'
import type { NamedClient } from '../upstreams/clients.ts'

/** The outcome of one of several clients. */
export type Outcome<Value> = { name: string; client: NamedClient } & (
  | { ok: true; value: Value }
  | { ok: false; failure: Failure }
)

/** A failed client, in an output. */
export const failedClient = z.object({
  client: z.string(),
  reason: foreignText(600, 'what went wrong and what to do'),
})

/**
 * Asks all clients in parallel; a failed one does not stop the others. If all fail, it throws the failure of
 * the only one, or one failure that lists all.
 */
export async function onClients<Value>(
  clients: readonly NamedClient[],
  what: string,
  ask: (client: NamedClient) => Promise<Value>,
): Promise<Outcome<Value>[]> {
  const outcomes = await Promise.all(
    clients.map(client =>
      Promise.resolve(client)
        .then(ask)
        .then(
          (value): Outcome<Value> => ({ name: client.name, client, ok: true, value }),
          (error): Outcome<Value> => ({
            name: client.name,
            client,
            ok: false,
            failure: toFailure(error, client.client.title),
          }),
        ),
    ),
  )
  const failures = outcomes.flatMap(outcome => (outcome.ok ? [] : [outcome.failure]))
  if (failures.length === outcomes.length) throw toAllFailed(what, failures)
  return outcomes
}

/** Returns the values of the clients that succeeded. */
export function toValues<Value>(outcomes: readonly Outcome<Value>[]): { name: string; value: Value }[] {
  return outcomes.flatMap(({ name, ...outcome }) => (outcome.ok ? [{ name, value: outcome.value }] : []))
}

/** Returns the failed clients, for an output. */
export function toFailed(outcomes: readonly Outcome<unknown>[]): z.input<typeof failedClient>[] {
  return outcomes.flatMap(({ name, ...outcome }) =>
    outcome.ok ? [] : [{ client: name, reason: toReason(outcome.failure) }],
  )
}

/** Returns a line for each failed client. */
export function toFailedLines(outcomes: readonly Outcome<unknown>[]): string[] {
  return outcomes.flatMap(({ name, ...outcome }) =>
    outcome.ok ? [] : [`${name} failed: ${toReason(outcome.failure)}`],
  )
}

function toReason({ what, why, fix }: Failure): string {
  return `${what} Why: ${why}. ${fix}`
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
