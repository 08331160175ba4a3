/** A person's answer to an approval, as it is written in a chat. */
export interface WrittenDecision {
  approval: string
  decision: 'approve' | 'deny'
  note?: string
}

export const DECISION_USAGE = 'Write /approve ID [note] or /deny ID [note].'

/** Reads `/approve ID [note]` and `/deny ID [note]`; `incomplete` without an id, undefined for anything else. */
export function parseDecision(line: string): WrittenDecision | 'incomplete' | undefined {
  const [command, approval, ...rest] = line.trim().split(/\s+/)
  if (command !== '/approve' && command !== '/deny') return undefined
  if (approval === undefined) return 'incomplete'
  const note = rest.join(' ')
  return {
    approval,
    decision: command === '/approve' ? 'approve' : 'deny',
    ...(note === '' ? {} : { note }),
  }
}
