import type { ModelMessage, ModelRequest } from '../../core/model.ts'
import type { Decision } from './decide-reply.ts'

const SAY = 'send_message'
const NOWHERE = /^Your final text goes nowhere; use send_message .*\(conversations: ([^,)\s]+)/m

/**
 * What a cycle says that nobody asked for, such as one that an event began: its final text would go nowhere, so it is
 * sent once to the agent's first conversation. Other decisions stay as they are.
 */
export function toAnnouncement(request: ModelRequest, decision: Decision): Decision {
  const begin = request.messages.findLastIndex(isBatch)
  const conversation = NOWHERE.exec(textOf(request.messages[begin]))?.[1]
  const canSay = request.tools.some(tool => tool.name === SAY)
  if (conversation === undefined || decision.calls.length > 0 || !canSay) return decision
  const said = request.messages.slice(begin).some(message => message.role === 'tool' && message.name === SAY)
  if (said || decision.text === '') return { text: '', calls: [] }
  const args = JSON.stringify({ to: conversation, text: decision.text })
  return { text: '', calls: [{ id: `rules_${request.messages.length}_say`, name: SAY, arguments: args }] }
}

function isBatch(message: ModelMessage): boolean {
  return message.role === 'user' && message.text.startsWith('[INBOX')
}

function textOf(message: ModelMessage | undefined): string {
  return message?.role === 'user' ? message.text : ''
}
