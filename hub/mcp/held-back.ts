import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/client'

/** Tools that act for the owner as a person: a client's model does not get them. */
const HELD_BACK: ReadonlySet<unknown> = new Set(['hub_decide_approval'])

/** Why the hub is not asked for this; undefined where it is. */
export function whyHeldBack(message: JSONRPCMessage): string | undefined {
  if (!('method' in message) || message.method !== 'tools/call') return undefined
  const name = (message as JSONRPCRequest).params?.['name']
  return HELD_BACK.has(name)
    ? `${name} is for a person and not for a client's model: decide on the hub's page, in "superbloom chat", or with "superbloom approvals".`
    : undefined
}

/** A message of the hub without the tools that are held back. */
export function withoutHeldBack(message: JSONRPCMessage): JSONRPCMessage {
  if (!('result' in message) || !Array.isArray(message.result['tools'])) return message
  const tools = message.result['tools'].filter(tool => !HELD_BACK.has(tool?.name))
  return { ...message, result: { ...message.result, tools } }
}
