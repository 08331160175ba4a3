/** A person's answer to an approval, as a line of a chat gives it. */
export interface WrittenDecision {
  approval: string
  decision: 'approve' | 'deny'
  note?: string
}

export const DECISION_USAGE = 'Write /approve ID [note] or /deny ID [note].'

/** Reads `/approve ID [note]` or `/deny ID [note]`: `incomplete` without ID, undefined for other text. */
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
