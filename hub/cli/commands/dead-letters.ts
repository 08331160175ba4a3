import type { Command } from 'commander'
import { HubError } from '../../core/errors.ts'
import { deadLetters, describeDeadLetter } from '../../mcp/hub-tools/dead-letters.ts'
import { callHub, printCall } from '../call-hub.ts'
import { findHub } from '../find-hub.ts'
import { print } from '../print.ts'

export function define(command: Command): void {
  command
    .option('--all', 'those that were decided too')
    .option('--json', 'as JSON')
    .action(({ all, json }: { all?: boolean; json?: boolean }) =>
      printCall('hub_list_dead_letters', all ? {} : { status: 'open' }, { json }),
    )
  const add = (name: string, description: string, run: (id: string) => Promise<void>) =>
    command.command(name).description(description).argument('<id>', 'the dead letter').action(run)
  add('show', 'print everything about one', show)
  add('retry', 'have its agent try again', id => printCall('hub_retry_dead_letter', { id }))
  add('discard', 'give it up', id => printCall('hub_discard_dead_letter', { id }))
}

async function show(id: string): Promise<void> {
  const { structured } = await callHub(findHub(), 'hub_list_dead_letters', {})
  const letter = deadLetters.parse(structured).deadLetters.find(each => each.id === id)
  if (!letter)
    throw new HubError('not_found', `There is no dead letter ${id}; superbloom dead-letters --all lists them`)
  print(describeDeadLetter(letter))
}
