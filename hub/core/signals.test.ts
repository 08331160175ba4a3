import { expect, test } from 'vitest'
import { createSignals } from './signals.ts'

test('listeners hear in order until they stop; one that throws keeps nobody from hearing', () => {
  const errors: unknown[] = []
  const heard: string[] = []
  const signals = createSignals(error => errors.push(error))
  signals.on('posted', () => {
    throw new Error('deaf')
  })
  const off = signals.on('posted', ({ thread }) => heard.push(`a ${thread}`))
  signals.on('posted', ({ thread }) => heard.push(`b ${thread}`))
  signals.emit('posted', { thread: '1' })
  off()
  signals.emit('posted', { thread: '2' })
  signals.emit('idle', { thread: '3' })
  expect(heard).toEqual(['a 1', 'b 1', 'b 2'])
  expect(errors.map(String)).toEqual(['Error: deaf', 'Error: deaf'])
})

test('a listener may stop another one while both are told', () => {
  const heard: string[] = []
  const signals = createSignals(() => undefined)
  const offs = [
    signals.on('posted', () => {
      heard.push('first')
      offs[1]?.()
    }),
    signals.on('posted', () => heard.push('second')),
  ]
  signals.emit('posted', { thread: 'x' })
  expect(heard).toEqual(['first'])
})
