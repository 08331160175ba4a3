import { stripControl, truncate } from '../core/text.ts'

const OWN_INSTRUCTIONS =
  'A hub of homelab tools and persistent agents. Call a tool directly for one quick answer; use hub_chat to hand something to an agent, which remembers, watches and comes back.'

/** Characters of one server's self-description, and of all together. */
const LONGEST_INSTRUCTIONS = 2_000
const LONGEST_OF_ALL = 12_000

/** Returns the hub's instructions for a client's model, and then each server's, by its name. */
export function toInstructions(servers: readonly { server: string; text: string }[]): string {
  const parts = servers.map(
    ({ server, text }) =>
      `## The server ${server} says of itself\n${truncate(stripControl(text), LONGEST_INSTRUCTIONS)}`,
  )
  return truncate([OWN_INSTRUCTIONS, ...parts].join('\n\n'), LONGEST_OF_ALL)
}
