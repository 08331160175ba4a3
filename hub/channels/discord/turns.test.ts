import { expect, test } from 'vitest'
import { createTurns } from './turns.ts'

test('messages are handled in their order, first ones first; what is done never passes one that waits', async () => {
  const log: string[] = []
  const turns = createTurns<{ id: string; channelId: string; by?: string }>({
    isFirst: ({ by }) => by === 'owner',
    handle: async ({ id }) => {
      log.push(id)
      if (id === '2') throw new Error('no')
    },
    onDone: async (_channel, id) => void log.push(`done ${id}`),
    onError: ({ id }) => log.push(`failed ${id}`),
  })
  for (const id of ['1', '2', '3', '4', '10'])
    turns.take({ id, channelId: 'a', ...(id === '10' && { by: 'owner' }) })
  await turns.done()
  expect(log).toEqual(['10', '1', '2', 'failed 2', '3', '4', 'done 10'])
  turns.take({ id: '11', channelId: 'a' })
  await turns.done()
  expect(log.slice(-2)).toEqual(['11', 'done 11'])
})
