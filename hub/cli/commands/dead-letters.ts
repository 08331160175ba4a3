import { HubError } from '../../core/errors.ts'
import { deadLetters, describeDeadLetter } from '../../mcp/hub-tools/dead-letters.ts'
import { callHub } from '../call-hub.ts'
import { findHub } from '../find-hub.ts'
import { print, printJson } from '../print.ts'

/** Prints the open dead letters, or all of them. */
export async function listDeadLetters(options: { all?: boolean; json?: boolean }): Promise<void> {
  const args = options.all ? {} : { status: 'open' }
  const { structured, text } = await callHub(findHub(), 'hub_list_dead_letters', args)
  options.json ? printJson(structured) : print(text)
}

/** Prints everything about a dead letter. */
export async function showDeadLetter(id: string): Promise<void> {
  const { structured } = await callHub(findHub(), 'hub_list_dead_letters', {})
  const letter = deadLetters.parse(structured).deadLetters.find(each => each.id === id)
  if (!letter)
    throw new HubError('not_found', `There is no dead letter ${id}; superbloom dead-letters --all lists them`)
  print(describeDeadLetter(letter))
}

/** Retries or discards a dead letter. */
export async function decideDeadLetter(id: string, what: 'retry' | 'discard'): Promise<void> {
  const { text } = await callHub(findHub(), `hub_${what}_dead_letter`, { id })
  print(text)
}
