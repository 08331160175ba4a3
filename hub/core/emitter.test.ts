import { expect, test } from 'vitest'
import { createEmitter } from './emitter.ts'

test('listeners hear in order until they stop; one that throws keeps nobody from hearing', () => {
  const errors: unknown[] = []
  const heard: string[] = []
  const emitter = createEmitter<{ news: string; other: number }>(error => errors.push(error))
  emitter.on('news', () => {
    throw new Error('deaf')
  })
  const off = emitter.on('news', text => heard.push(`a ${text}`))
  emitter.on('news', text => heard.push(`b ${text}`))
  emitter.emit('news', '1')
  off()
  emitter.emit('news', '2')
  emitter.emit('other', 3)
  expect(heard).toEqual(['a 1', 'b 1', 'b 2'])
  expect(errors.map(String)).toEqual(['Error: deaf', 'Error: deaf'])
})

test('a listener may stop another one while both are told', () => {
  const heard: string[] = []
  const emitter = createEmitter<{ news: string }>(() => undefined)
  const offs = [
    emitter.on('news', () => {
      heard.push('first')
      offs[1]?.()
    }),
    emitter.on('news', () => heard.push('second')),
  ]
  emitter.emit('news', 'x')
  expect(heard).toEqual(['first'])
})
