import { isNamed } from '../core/tool-access.ts'
import type { CallContext } from '../core/tool-box.ts'
import type { ContextScope } from '../store/context.ts'
import { grantsOf } from '../store/tasks.ts'
import { mainThreadId, readThread } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'

/** Returns the default owner of a fact: the agent on its main thread, a task in that task. */
export function defaultScope({ agent, thread }: CallContext): ContextScope['scope'] {
  return thread === mainThreadId(agent) ? 'agent' : 'thread'
}

/** Tells whether a caller may write: a task to its agent's context only if its makers named store_context. */
export async function mayWrite(
  tx: Tx,
  scope: ContextScope['scope'],
  { agent, thread }: CallContext,
): Promise<boolean> {
  if (scope === 'thread' || thread === mainThreadId(agent)) return true
  const row = await readThread(tx, thread)
  return row !== undefined && isNamed({ agent: [], task: grantsOf(row).tools }, 'store_context')
}
