import { expect, test } from 'vitest'
import { clientPrompt } from '../../../schemas/client-prompt.ts'
import { createHubPrompts } from './hub-prompts.ts'

const prompt = (over: object) => clientPrompt.parse({ text: 'Hello', ...over })
const ASK = prompt({
  title: 'Ask',
  text: 'Ask {who} about {topic}, {topic}! {"json": true} {}',
  arguments: [
    { name: 'topic', description: 'what about', required: true, values: ['disks', 'Downloads', 'games'] },
    { name: 'who' },
  ],
})
const prompts = createHubPrompts(() => [
  { name: 'homelab', description: 'Looks after the homelab', clientPrompt: ASK },
  { name: 'quiet', description: 'Says nothing' },
  { name: 'zoe', description: '', clientPrompt: prompt({}) },
])

test('agents that declare one are listed', () => {
  expect(prompts.list()).toEqual([
    {
      name: 'homelab',
      title: 'Ask',
      description: 'Looks after the homelab',
      arguments: [
        { name: 'topic', description: 'what about', required: true },
        { name: 'who', required: false },
      ],
    },
    { name: 'zoe', arguments: [] },
  ])
})

test('arguments stand in their places, and are never looked into', () => {
  const { messages, description } = prompts.get('homelab', { topic: '{who} $& {topic}', extra: 'x' })
  expect(description).toBe('Looks after the homelab')
  expect(messages).toEqual([
    {
      role: 'user',
      content: {
        type: 'text',
        text: 'Ask  about {who} $& {topic}, {who} $& {topic}! {"json": true} {}',
      },
    },
  ])
  expect(prompts.get('zoe', {}).messages).toHaveLength(1)
})

test.for<[string, Record<string, string>, string, RegExp]>([
  ['homelab', {}, 'invalid_arguments', /The prompt homelab needs topic/],
  ['homelab', { topic: ' ' }, 'invalid_arguments', /needs topic/],
  ['quiet', {}, 'not_found', /no prompt quiet; the hub's own: homelab, zoe/],
  ['constructor', {}, 'not_found', /no prompt constructor/],
])('%s with %j is refused: %s', ([name, args, code, words]) => {
  expect(() => prompts.get(name, args)).toThrow(
    expect.objectContaining({ code, message: expect.stringMatching(words) }),
  )
})

test('the values of the file are proposed', () => {
  const complete = (name: string, argument: string, value: string) =>
    prompts.complete(name, { name: argument, value })
  expect(complete('homelab', 'topic', '')).toEqual(['disks', 'Downloads', 'games'])
  expect(complete('homelab', 'topic', 'd')).toEqual(['disks', 'Downloads'])
  expect(complete('homelab', 'who', '')).toEqual([])
  expect(complete('quiet', 'topic', '')).toEqual([])
})
