import { expect, test } from 'vitest'
import { conversationId, UNNAMED_SLUG } from '../../schemas/names.ts'
import { conversationTitle, costWords, newConversationId, reasonWords, toolWords } from './words.ts'

test.each([
  ['get_system_metrics', 'Get system metrics'],
  ['files__read_text_file', 'Read text file (files)'],
  ['hub-thing', 'Hub thing'],
  ['', ''],
])('the tool %s is called %s', (tool, words) => {
  expect(toolWords(tool)).toBe(words)
})

test.each([
  ['tools.approve of the config lists it', 'Settings > Servers says “Agents ask each time” of it'],
  [
    'it is destructive, and a guest began this work; grants in agents/the-house.md does not name it',
    'it is destructive, and a guest began this work; Settings > Servers could let it run without asking',
  ],
  [
    'approve in agents/the-house.md lists it',
    'what the agent the-house asks for names it (approve in Settings > Agents)',
  ],
  ['it only looks', 'it only looks'],
])('the reason "%s" names places of the page', (reason, words) => {
  expect(reasonWords(reason)).toBe(words)
})

test.each([
  [{ id: 'homelab' }, 'homelab'],
  [{ id: 'homelab/the-disks' }, 'the disks'],
  [{ id: 'homelab/the-disks', title: 'الأقراص 📀' }, 'الأقراص 📀'],
  [{ id: 'homelab/t-0a1b2c3d' }, 'New conversation'],
  [{ id: 'homelab/t-shirt' }, 't shirt'],
])('the title of %j is %s', (conversation, title) => {
  expect(conversationTitle(conversation)).toBe(title)
})

test('a new conversation has no name; that of a guest is its own', () => {
  const slugs = [newConversationId('homelab', null, () => 0.5), newConversationId('family', 'gus', () => 0)]
  expect(slugs).toEqual(['homelab/t-iiiiiiii', 'family/gus.t-00000000'])
  expect(slugs.map(id => conversationId.safeParse(id).success)).toEqual([true, true])
  expect(slugs.map(id => UNNAMED_SLUG.test(id.split('/')[1] ?? ''))).toEqual([true, true])
})

test('what a reply used is said in one line', () => {
  const shown = { earlier: 0, messages: [], answer: {} }
  const first = {
    ...shown,
    step: 1,
    model: 'm',
    at: 1,
    ms: 1_200,
    tokens: { input: 1_200, cached: 0, output: 30 },
    cost: 0.001,
  }
  const second = {
    ...first,
    step: 2,
    tokens: { input: 300, cached: 200, output: 10 },
    cost: 0.0002,
    currency: 'USD',
  }
  expect(costWords({ steps: [first] })).toBe('1 step of m: 1,200 tokens in, 30 out, price unknown, 1.2 s')
  expect(costWords({ steps: [{ ...shown, step: 1 }, first, second] })).toBe(
    '2 steps of m: 1,500 tokens in (200 cached), 40 out, 0.0012 USD, 2.4 s',
  )
  expect(costWords({ steps: [{ ...shown, step: 1 }] })).toBe('What it used was not recorded.')
})
