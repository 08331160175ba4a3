import { expect, test } from 'vitest'
import { conversationId, name } from './names.ts'

const taken = (schema: typeof name, texts: string[]) => texts.filter(text => schema.safeParse(text).success)

test('names', () => {
  const right = ['a', 'homelab', 'a1', 'a-b_c', '1', 'a'.repeat(64)]
  const wrong = ['', 'A', 'a b', '-a', 'a-', '_a', 'a/b', 'a.b', 'ä', 'a'.repeat(65), 'a\n', '..']
  expect(taken(name, [...right, ...wrong])).toEqual(right)
})

test('conversations', () => {
  const right = ['homelab', 'homelab/x', 'homelab/mcp-owner', 'homelab/2026-11.v_2', `a/${'b'.repeat(64)}`]
  const wrong = [
    '',
    '/x',
    'homelab/',
    'homelab/x/y',
    'Homelab',
    'homelab/../x',
    'homelab/.x',
    'homelab/x y',
    'a\n',
  ]
  expect(taken(conversationId, [...right, ...wrong])).toEqual(right)
})
