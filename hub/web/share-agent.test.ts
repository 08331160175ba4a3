import { expect, test } from 'vitest'
import { withShared } from './share-agent.ts'

test.each([
  ['---\ntools: ["*"]\n---\nYou are kind.\n', true, '---\ntools: ["*"]\nshared: true\n---\nYou are kind.\n'],
  ['---\n---\nYou.\n', true, '---\nshared: true\n---\nYou.\n'],
  ['---\nshared: false # yet\nmodel: m\n---\nYou.', true, '---\nshared: true\nmodel: m\n---\nYou.'],
  ['---\nshared:\n  - a/b\n  - a/c\nmodel: m\n---\n', false, '---\nshared: false\nmodel: m\n---\n'],
  [
    'You are kind.\n---\nshared: true\n---\n',
    true,
    '---\nshared: true\n---\n\nYou are kind.\n---\nshared: true\n---\n',
  ],
  [
    '---\nlimits:\n  steps: 3\n---\nshared: is a word here\n',
    true,
    '---\nlimits:\n  steps: 3\nshared: true\n---\nshared: is a word here\n',
  ],
])('the file %j, shared: %s', (text, shared, expected) => {
  expect(withShared(text, shared)).toBe(expected)
})
