import { expect, test } from 'vitest'
import { conversationTitle, toolWords, toSlug } from './words.ts'

test.each([
  ['get_system_metrics', 'Get system metrics'],
  ['files__read_text_file', 'Read text file (files)'],
  ['hub-thing', 'Hub thing'],
  ['', ''],
])('the tool %s is called %s', (tool, words) => {
  expect(toolWords(tool)).toBe(words)
})

test.each([
  ['The Disks!', 'the-disks'],
  ['  Überholung – Küche ', 'uberholung-kuche'],
  ['日本', ''],
  ['x'.repeat(60), 'x'.repeat(40)],
])('%j becomes %j', (text, slug) => {
  expect(toSlug(text)).toBe(slug)
})

test('titles', () => {
  expect(conversationTitle('homelab')).toBe('homelab')
  expect(conversationTitle('homelab/the-disks')).toBe('the disks')
})
