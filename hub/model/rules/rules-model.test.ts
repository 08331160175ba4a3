import { expect, it } from 'vitest'
import type { ModelRequest } from '../../core/model.ts'
import { createRulesModel } from './rules-model.ts'

const request = (text: string): ModelRequest => ({
  system: '',
  messages: [
    {
      role: 'user',
      text: '[INBOX - 1 event]',
      items: [{ kind: 'message', origin: 'alex in homelab', text, at: 0 }],
    },
  ],
  tools: [{ name: 'get_system_metrics', description: 'CPU, memory', inputSchema: {}, readOnly: true }],
  maxOutput: 4096,
  timezone: 'UTC',
  now: 0,
})

it('streams its text in pieces and spends nothing', async () => {
  const pieces: string[] = []
  const { signal } = new AbortController()
  const reply = await createRulesModel().complete(request('/help'), {
    signal,
    onText: piece => pieces.push(piece),
  })
  expect(pieces.length).toBeGreaterThan(5)
  expect(pieces.join('')).toBe(reply.text)
  expect(reply).toMatchObject({ calls: [], truncated: false, usage: { input: 0, output: 0, cachedInput: 0 } })
})

it('asks for calls with their arguments as JSON', async () => {
  const { signal } = new AbortController()
  const reply = await createRulesModel().complete(request('how is this machine doing?'), {
    signal,
    onText: () => undefined,
  })
  expect(reply).toMatchObject({ text: '', calls: [{ name: 'get_system_metrics', arguments: '{}' }] })
})

it('stops with the reason of the signal, before and between pieces', async () => {
  const controller = new AbortController()
  const reason = new Error('stopped by a person')
  const onText = () => controller.abort(reason)
  await expect(
    createRulesModel().complete(request('/help'), { signal: controller.signal, onText }),
  ).rejects.toBe(reason)
  await expect(
    createRulesModel().complete(request('/help'), { signal: controller.signal, onText }),
  ).rejects.toBe(reason)
})
