/** @import { Approval, ChatState, Decision } from './types.d.ts' */

/**
 * Applies an approval's newest state; a decided one never opens again.
 * @param {ChatState} state @param {Approval} next
 */
export function applyApproval(state, next) {
  const before = state.approvals[next.id]
  if (before && before.status !== 'open' && next.status === 'open') return state
  const { [next.id]: _, ...deciding } = state.deciding
  return { ...state, deciding, approvals: { ...state.approvals, [next.id]: next } }
}

/** @param {ChatState} state @param {Approval[]} list */
export function applyApprovals(state, list) {
  return list.reduce(applyApproval, state)
}

/**
 * Marks an answer of this page as sent, until the hub confirms it.
 * @param {ChatState} state @param {string} id @param {Decision} decision @returns {ChatState}
 */
export function applyDeciding(state, id, decision) {
  return { ...state, deciding: { ...state.deciding, [id]: decision } }
}

/**
 * Lets answers be given again after the hub refused one, or the link broke.
 * @param {ChatState} state @returns {ChatState}
 */
export function applyUndecided(state) {
  return Object.keys(state.deciding).length === 0 ? state : { ...state, deciding: {} }
}

/** Returns the open approvals, the next to expire first. @param {Record<string, Approval>} approvals */
export function openApprovals(approvals) {
  return Object.values(approvals)
    .filter(one => one.status === 'open')
    .sort((a, b) => a.expiresAt - b.expiresAt)
}

/**
 * Returns ids that are open here and not in the hub's list of open ones: somebody decided them while this
 * page was away.
 * @param {ChatState} state @param {Approval[]} listed
 */
export function missedDecisions(state, listed) {
  const still = new Set(listed.map(one => one.id))
  return openApprovals(state.approvals)
    .map(one => one.id)
    .filter(id => !still.has(id))
}
