import { z } from 'zod'

const requestBody = z.object({
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
  tools: z.array(z.unknown()).default([]),
})

/** A scripted provider's reply to one request. */
export interface ScriptedReply {
  /** `summary` if the request offers no tool, which only a compaction does. */
  kind: 'text' | 'calls' | 'summary'
  text: string
  calls: { id: string; name: string; arguments: string }[]
}

/**
 * The calls: each line `please WHAT ID` of a message makes one, except `answer`, which is answered in text.
 */
const CALLS: Record<string, (id: string) => { name: string; args: object }> = {
  change: id => ({ name: 'change', args: { id } }),
  look: id => ({ name: 'look', args: { id } }),
  guard: id => ({ name: 'guard', args: { id } }),
  task: id => ({ name: 'create_task', args: { instructions: `please change ${id}` } }),
  remember: id => ({ name: 'store_context', args: { key: 'newest', value: id } }),
  wake: id => ({ name: 'schedule_wake', args: { delay: '1s', reason: `mark-${id}` } }),
}

/** Carries out the newest message, and reports the results once they are there. */
export function decideReply(body: string): ScriptedReply {
  const { messages, tools } = requestBody.parse(JSON.parse(body))
  if (tools.length === 0) return { kind: 'summary', text: 'Nothing of note.', calls: [] }
  const last = messages.at(-1)
  const newest = String(last?.content ?? '')
  // A task's instructions are in its prompt.
  const text = newest.includes('Begin with your task.') ? String(messages[0]?.content ?? '') : newest
  if (last?.role === 'tool') {
    const end = messages.findLastIndex(({ role }) => role !== 'tool')
    const results = messages.slice(end + 1).map(({ content }) => String(content))
    return { kind: 'text', text: `Done: ${results.join(' | ')}`, calls: [] }
  }
  if (text.startsWith('[UNANSWERED')) return { kind: 'text', text: 'I did not forget you.', calls: [] }
  const asked = [...text.matchAll(/^(?:> )?please (\w+) (\S+)$/gm)].map(([, what = '', id = '']) => ({
    what,
    id,
  }))
  const calls = asked.flatMap(({ what, id }) => {
    const call = CALLS[what]?.(id)
    return call ? [{ id: `call_${id}`, name: call.name, arguments: JSON.stringify(call.args) }] : []
  })
  if (calls.length > 0) return { kind: 'calls', text: 'I do that.', calls }
  return { kind: 'text', text: `Answered: ${asked.map(({ id }) => id).join(', ')}`, calls: [] }
}
