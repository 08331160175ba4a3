import type { InboxPayload } from '../../schemas/inbox.ts'

/**
 * Tells whether people's messages alone led to what a cycle does: it took one, and nothing that a program or
 * an agent wrote. People's decisions and the hub's own notes change nothing.
 */
export function isOfPeople(items: readonly { payload: Pick<InboxPayload, 'kind'> }[]): boolean {
  const kinds = items.map(({ payload }) => LED_BY[payload.kind])
  return kinds.includes('person') && !kinds.includes('other')
}

const LED_BY: Record<InboxPayload['kind'], 'person' | 'other' | 'nobody'> = {
  message: 'person',
  approval: 'nobody',
  reset: 'nobody',
  notice: 'nobody',
  wake: 'other',
  event: 'other',
  agent: 'other',
  task: 'other',
}
