import { PassThrough } from 'node:stream'
import { expect, it, vi } from 'vitest'
import type { WebSocket } from 'ws'
import type { HubFrame } from '../../schemas/chat.ts'
import { createSender } from './sender.ts'

function world() {
  const sent: HubFrame[] = []
  const socket = new PassThrough()
  const cork = vi.spyOn(socket, 'cork')
  const ws = {
    OPEN: 1,
    readyState: 1,
    bufferedAmount: 0,
    send: (text: string) => sent.push(JSON.parse(text)),
  } as unknown as WebSocket
  return { sent, cork, send: createSender(ws, socket) }
}

const delta = (text: string, cycle = 'c'): HubFrame => ({ type: 'delta', conversation: 'a', cycle, text })
const pong: HubFrame = { type: 'pong' }

it('joins the pieces of a text until something else goes out, and keeps the order', () => {
  const { sent, send } = world()
  send({ type: 'agent', name: 'a', status: 'active' })
  for (const text of ['The ', 'disks ', 'are ', 'fine.']) send(delta(text))
  send(delta('Other', 'd'))
  expect(sent).toEqual([])
  send(pong)
  expect(sent).toEqual([
    { type: 'agent', name: 'a', status: 'active' },
    delta('The disks are fine.'),
    delta('Other', 'd'),
    pong,
  ])
})

it('activity goes out by itself, all of it in one write', async () => {
  const { sent, cork, send } = world()
  send(delta('one '))
  send(delta('two'))
  await vi.waitFor(() => expect(sent).toEqual([delta('one two')]))
  expect(cork).toHaveBeenCalledTimes(1)
})

it('what came after a frame of the same round is written with it', async () => {
  const { sent, cork, send } = world()
  send(pong)
  send(delta('at once'))
  await vi.waitFor(() => expect(sent).toEqual([pong, delta('at once')]))
  expect(cork).toHaveBeenCalledTimes(1)
})

it('a client that left gets nothing more', async () => {
  const { sent, send } = world()
  send(delta('late'))
  send.stop()
  send(pong)
  expect(sent).toEqual([pong])
})
