import type { Approval, HubFrame } from '../../schemas/chat.ts'
import { findNearest } from '../core/spelling.ts'
import { DECISION_USAGE, parseDecision } from './approvals.ts'
import type { Decision } from './chat-socket.ts'
import type { Names } from './complete.ts'

/** Commands of the terminal's chat, in lines that are narrow enough for any terminal. */
export const CHAT_HELP = [
  'Write and press Enter. The agent may write by itself too.',
  'Tab completes; the arrow keys bring back what you wrote.',
  'Ctrl+C stops the agent while it works.',
  '/open NAME changes the conversation, /quit leaves.',
  '/help shows more.',
  'For a call that needs your yes: approve 3 [note], or',
  'deny 3 [note]. approve 3 always 1d holds for a day.',
].join('\n')

/** Names that decide what a line is. */
export type LineNames = Pick<Names, 'agents' | 'conversations'> & {
  /** Commands of the program in the shell. */
  commands: readonly string[]
}

/** `open` without a conversation leaves. `help` is sent too, since the agent's model may have commands. */
export type LineAction =
  | { kind: 'send'; text: string }
  | { kind: 'help'; text: string }
  | { kind: 'decide'; decision: Decision }
  | { kind: 'open'; conversation: string | undefined }
  | { kind: 'note'; text: string }
  | { kind: 'none' }

/** Decides what a line that a person typed into the terminal's chat does. */
export function decideLine(line: string, names: LineNames): LineAction {
  const text = line.trim()
  if (text === '') return { kind: 'none' }
  if (/^\/?(quit|exit)$/i.test(text)) return { kind: 'open', conversation: undefined }
  const open = /^\/open(?:\s+(\S+))?$/.exec(text)
  if (open) return decideOpen(open[1], names)
  const decision = parseDecision(text)
  if (decision === 'incomplete') return { kind: 'note', text: DECISION_USAGE }
  if (decision !== undefined) return { kind: 'decide', decision }
  const slip = findSlip(text, names.commands)
  if (slip !== undefined) return { kind: 'note', text: slip }
  return { kind: /^\/?help$/i.test(text) ? 'help' : 'send', text }
}

/** Returns what to say to a command of the shell and to a misspelled decision, which no agent should get. */
function findSlip(text: string, commands: readonly string[]): string | undefined {
  const [, first = '', number] = /^\/?([a-z]+) (\d+)\b/i.exec(text) ?? []
  const [decision] = findNearest(first.toLowerCase(), ['approve', 'deny'])
  if (decision !== undefined) return `Did you mean ${decision} ${number}?`
  const [, command] = /^(?:npx )?superbloom(?: +([a-z-]+).*)?$/.exec(text) ?? []
  if (command === undefined) return undefined
  const [meant] = commands.includes(command) ? [command] : findNearest(command, commands)
  return meant && `superbloom ${meant} is a command of the shell: /quit leaves the chat.`
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
