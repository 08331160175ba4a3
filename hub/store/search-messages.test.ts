import { expect, test } from 'vitest'
import { openTempStore } from '../../tests/support/temp-store.ts'
import { appendMessage } from './conversations.ts'
import { searchMessages } from './search-messages.ts'

const SAID = [
  ['homelab', 'user', 'How full is the NAS?'],
  ['homelab', 'agent', `${'A long story. '.repeat(30)}The disk of the nas is 91 % full.`],
  ['homelab', 'tool', 'nas: full'],
  ['homelab/t-0a1b2c3d', 'user', '家里的服务器 🌡️ 热吗？'],
  ['homelab/t-0a1b2c3d', 'agent', 'Übrigens: كم حرارة الخادم الآن؟'],
  ['family', 'user', 'Is the nas full, or file_1 100%?'],
] as const

test.each([
  ['nas FULL', ['family 1', 'homelab 2', 'homelab 1']],
  ['服务器', ['homelab/t-0a1b2c3d 1']],
  ['🌡️', ['homelab/t-0a1b2c3d 1']],
  ['ÜBRIGENS خادم', ['homelab/t-0a1b2c3d 2']],
  ['file_1 100%', ['family 1']],
  ['fileX1', []],
  ['%', ['family 1', 'homelab 2']],
  ['  ', []],
] as const)('%j is found in %j', async (query, expected) => {
  await using store = await openTempStore()
  for (const [index, [conversation, kind, text]] of SAID.entries())
    await store.write(tx =>
      appendMessage(tx, { id: `m${index}`, conversation, kind, author: 'alex', text, at: index }),
    )
  const all = ['homelab', 'homelab/t-0a1b2c3d', 'family']
  const search = (conversations: string[], limit = 9) =>
    searchMessages(store.db, { query, conversations, limit })
  const found = await search(all)
  expect(found.map(one => `${one.conversation} ${one.seq}`)).toEqual(expected)
  expect((await search(all, 1)).length).toBe(Math.min(1, expected.length))
  expect(await search(['family/none'])).toEqual([])
  for (const { snippet } of found) {
    expect(snippet.length).toBeLessThan(230)
    expect(snippet.toLowerCase()).toContain(query.split(' ')[0]?.toLowerCase())
  }
})
