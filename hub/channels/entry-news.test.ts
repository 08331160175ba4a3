import { expect, test } from 'vitest'
import type { ChatMessage, ConversationEntry } from '../../schemas/chat.ts'
import { createLog } from '../core/log.ts'
import { createSignals } from '../core/signals.ts'
import { createEntryNews } from './entry-news.ts'

const message: ChatMessage = {
  seq: 1,
  id: 'm',
  conversation: 'homelab/tea',
  kind: 'user',
  author: 'owner',
  text: 'Hi',
  at: 1,
}

test('a conversation that begins is read once for all who listen, and for nobody not at all', async () => {
  const signals = createSignals(error => expect.fail(String(error)))
  const log = createLog({ level: 'error', now: () => 0, write: expect.fail })
  const read: string[] = []
  const findEntry = async (id: string): Promise<ConversationEntry> => {
    read.push(id)
    return { id, agents: ['homelab'], lastSeq: 1, lastAt: 1 }
  }
  using news = createEntryNews({ signals, findEntry, log })
  signals.emit('message', message)
  expect(read).toEqual([])

  const heard = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
  const [off] = heard.map(({ resolve }) => news.on(({ id }) => resolve(id)))
  signals.emit('message', message)
  expect(await Promise.all(heard.map(({ promise }) => promise))).toEqual(['homelab/tea', 'homelab/tea'])
  signals.emit('message', { ...message, seq: 2 })
  expect(read).toEqual(['homelab/tea'])

  off?.()
  signals.emit('conversation', { id: 'homelab/coffee' })
  expect(read).toEqual(['homelab/tea', 'homelab/coffee'])
})
