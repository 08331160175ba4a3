import { expect, test } from 'vitest'
import { conversationId, UNNAMED_SLUG } from '../../schemas/names.ts'
import { conversationTitle, newConversationId, toolWords } from './words.ts'

test.each([
  ['get_system_metrics', 'Get system metrics'],
  ['files__read_text_file', 'Read text file (files)'],
  ['hub-thing', 'Hub thing'],
  ['', ''],
])('the tool %s is called %s', (tool, words) => {
  expect(toolWords(tool)).toBe(words)
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
