import type { Approval, Decision as Given } from '../../schemas/chat.ts'
import type { ChatState } from './conversation-store.ts'

export type Decision = Given['decision']

/** Applies an approval's newest state; a decided one never opens again. */
export function applyApproval(state: ChatState, next: Approval) {
  const before = state.approvals[next.id]
  if (before && before.status !== 'open' && next.status === 'open') return state
  const { [next.id]: _, ...deciding } = state.deciding
  return { ...state, deciding, approvals: { ...state.approvals, [next.id]: next } }
}

export function applyApprovals(state: ChatState, list: Approval[]) {
  return list.reduce(applyApproval, state)
}

/** Marks an answer of this page as sent, until the hub confirms it. */
export function applyDeciding(state: ChatState, id: string, decision: Decision): ChatState {
  return { ...state, deciding: { ...state.deciding, [id]: decision } }
}

/** Lets answers be given again after the hub refused one, or the link broke. */
export function applyUndecided(state: ChatState): ChatState {
  return Object.keys(state.deciding).length === 0 ? state : { ...state, deciding: {} }
}

/** Returns the open approvals, the next to expire first. */
export function openApprovals(approvals: Record<string, Approval>) {
  return Object.values(approvals)
    .filter(one => one.status === 'open')
    .sort((a, b) => a.expiresAt - b.expiresAt)
}

/** Tells whether the reader may answer an approval: the owner each, a member what the member alone asked for. */
export function mayDecide({ role, person }: Pick<ChatState, 'role' | 'person'>, { askedBy = [] }: Approval) {
  return role === 'owner' || (role === 'member' && askedBy.length > 0 && askedBy.every(one => one === person))
}

/**
 * Returns ids that are open here and not in the hub's list of open ones: somebody decided them while this
 * page was away.
 */
export function missedDecisions(state: ChatState, listed: Approval[]) {
  const still = new Set(listed.map(one => one.id))
  return openApprovals(state.approvals)
    .map(one => one.id)
    .filter(id => !still.has(id))
}
