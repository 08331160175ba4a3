import type { Command } from 'commander'
import { callHub } from '../call-hub.ts'
import { findHub } from '../find-hub.ts'
import { print } from '../print.ts'

export function define(command: Command): void {
  command
    .argument('<agent>')
    .option('--message <text>', 'tells the agent why')
    .action(async (agent: string, { message }: { message?: string }) => {
      const { text } = await callHub(findHub(), 'hub_reset', { agent, ...(message ? { message } : {}) })
      print(`${text} What was said before is still found with search.`)
    })
}
