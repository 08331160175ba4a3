import { expect, test } from 'vitest'
import type { ModelMessage, ModelRequest } from '../../core/model.ts'
import { toAnnouncement } from './announce.ts'

const nowhere =
  '[INBOX - 1 event]\nYour final text goes nowhere; use send_message to tell people something (conversations: homelab, other).\n'
const batch = (text: string): ModelMessage => ({ role: 'user', text, items: [] })
const request = (messages: ModelMessage[], tools = ['send_message']): ModelRequest => ({
  system: '',
  messages,
  tools: tools.map(name => ({ name, description: '', inputSchema: {} })),
  maxOutput: 100,
  timezone: 'UTC',
  now: 0,
})
const hot = { text: 'It is hot.', calls: [] }

test('what an event made it say goes to the first conversation, once', () => {
  const first = toAnnouncement(request([batch(nowhere)]), hot)
  expect(first.text).toBe('')
  expect(first.calls.map(call => [call.name, JSON.parse(call.arguments)])).toEqual([
    ['send_message', { to: 'homelab', text: 'It is hot.' }],
  ])
  const sent: ModelMessage[] = [
    batch(nowhere),
    { role: 'assistant', text: '', calls: first.calls },
    { role: 'tool', callId: 'x', name: 'send_message', text: 'Sent.', isError: false },
  ]
  expect(toAnnouncement(request(sent), hot)).toEqual({ text: '', calls: [] })
})

test('a reply that goes somewhere, a call, and an agent that cannot send stay as they are', () => {
  const somewhere = request([batch('[INBOX - 1 event]\nYour final text goes to the conversation homelab.')])
  expect(toAnnouncement(somewhere, hot)).toBe(hot)
  const call = { text: '', calls: [{ id: 'a', name: 'get_system_metrics', arguments: '{}' }] }
  expect(toAnnouncement(request([batch(nowhere)]), call)).toBe(call)
  expect(toAnnouncement(request([batch(nowhere)], []), hot)).toBe(hot)
})
