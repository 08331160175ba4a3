import { callHub } from '../call-hub.ts'
import { findHub } from '../find-hub.ts'
import { print } from '../print.ts'

/** Starts an agent's history fresh; the message tells it why. */
export async function reset(agent: string, { message }: { message?: string }): Promise<void> {
  const { text } = await callHub(findHub(), 'hub_reset', { agent, ...(message ? { message } : {}) })
  print(`${text} What was said before is still found with search.`)
}
