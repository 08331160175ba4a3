import type { Approval, HubFrame } from '../../schemas/chat.ts'
import { findNearest } from '../core/spelling.ts'
import { DECISION_USAGE, parseDecision } from './approvals.ts'
import type { Decision } from './chat-socket.ts'
import type { Names } from './complete.ts'

/** `open` without a conversation leaves. */
export type LineAction =
  | { kind: 'send'; text: string }
  | { kind: 'decide'; decision: Decision }
  | { kind: 'open'; conversation: string | undefined }
  | { kind: 'note'; text: string }
  | { kind: 'none' }

/** Decides what a line that a person typed into the terminal's chat does. */
export function decideLine(line: string, names: Pick<Names, 'agents' | 'conversations'>): LineAction {
  const text = line.trim()
  if (text === '') return { kind: 'none' }
  if (text === '/quit') return { kind: 'open', conversation: undefined }
  const open = /^\/open(?:\s+(\S+))?$/.exec(text)
  if (open) return decideOpen(open[1], names)
  const decision = parseDecision(text)
  if (decision === 'incomplete') return { kind: 'note', text: DECISION_USAGE }
  return decision === undefined ? { kind: 'send', text } : { kind: 'decide', decision }
}

/** Opens a conversation of an agent that exists: its first message creates it. */
function decideOpen(
  to: string | undefined,
  { agents, conversations }: Pick<Names, 'agents' | 'conversations'>,
): LineAction {
  if (to === undefined)
    return { kind: 'note', text: `Write /open NAME. There are ${conversations.join(', ')}.` }
  const isKnown = conversations.includes(to) || agents.includes(to.split('/')[0] ?? to)
  if (isKnown) return { kind: 'open', conversation: to }
  const near = findNearest(to, new Set([...conversations, ...agents]))
  const meant = near.length > 0 ? `did you mean ${near.join(' or ')}?` : `agents: ${agents.join(', ')}`
  return { kind: 'note', text: `There is no agent for ${to}; ${meant}` }
}

/** Creates the names that frames of the hub tell of. */
export function createChatNames() {
  const agents = new Set<string>()
  const conversations = new Set<string>()
  const approvals = new Set<number>()
  return {
    get agents() {
      return [...agents].sort()
    },
    get conversations() {
      return [...conversations].sort()
    },
    get approvals() {
      return [...approvals]
    },
    add({ number, status }: Pick<Approval, 'number' | 'status'>): void {
      if (status === 'open') approvals.add(number)
      else approvals.delete(number)
    },
    onFrame(frame: HubFrame): void {
      if (frame.type === 'welcome') {
        for (const { name } of frame.agents) agents.add(name)
        for (const { id } of frame.conversations) conversations.add(id)
      }
      if (frame.type === 'conversation') conversations.add(frame.conversation.id)
      if (frame.type === 'approval') this.add(frame.approval)
    },
  }
}
