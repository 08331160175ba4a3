import { expect, test } from 'vitest'
import { openTempStore } from '../../tests/support/temp-store.ts'
import { addFile, attachFiles, filesOf, findFile, readFileText } from './files.ts'
import { prune } from './retention.ts'

const DAY = 86_400_000

function file(id: string, author: string, at = 0) {
  const content = Buffer.from(`${id} of ${author}`)
  return {
    id,
    author,
    name: `${id}.txt`,
    size: content.length,
    content,
    text: content.toString(),
    created_at: at,
  }
}

test('an author sends their own files alone, and not too many without a message', async () => {
  await using store = await openTempStore()
  for (let n = 0; n < 40; n++) await store.write(tx => addFile(tx, file(`file_${n}`, 'anna')))
  await store.write(tx => addFile(tx, file('file_b', 'ben')))
  await expect(store.write(tx => addFile(tx, file('file_x', 'anna')))).rejects.toMatchObject({
    code: 'rate_limited',
  })

  const find = (...ids: string[]) => store.write(tx => filesOf(tx, { ids, author: 'anna' }))
  expect(await find('file_7', 'file_3')).toEqual([
    { id: 'file_7', name: 'file_7.txt', size: 14, characters: 14, head: 'file_7 of anna' },
    { id: 'file_3', name: 'file_3.txt', size: 14, characters: 14, head: 'file_3 of anna' },
  ])
  await expect(find('file_7', 'file_b')).rejects.toMatchObject({ code: 'not_found' })
  await store.write(tx => attachFiles(tx, ['file_7'], { conversation: 'homelab', id: 'm' }))
  await store.write(tx => addFile(tx, file('file_x', 'anna')))
  expect(await readFileText(store.db, 'file_7')).toMatchObject({ conversation_id: 'homelab' })
})

test('a file without a message goes after a day, the others by their own age', async () => {
  await using store = await openTempStore()
  for (const [id, at] of [
    ['file_old', 0],
    ['file_kept', 5],
    ['file_unsent', 5],
    ['file_new', 2 * DAY],
  ] as const)
    await store.write(tx => addFile(tx, file(id, 'anna', at * (at === 5 ? DAY / 5 : 1))))
  await store.write(tx => attachFiles(tx, ['file_old', 'file_kept'], { conversation: 'homelab', id: 'm' }))
  const now = 2.5 * DAY
  const horizons = { now, before: 0, onceBefore: 0, filesBefore: DAY / 2, auditBefore: 0 }
  await prune(store, horizons, new AbortController().signal)
  const left = await Promise.all(
    ['file_old', 'file_kept', 'file_unsent', 'file_new'].map(id => findFile(store.db, id)),
  )
  expect(left.map(one => one?.id)).toEqual([undefined, 'file_kept', undefined, 'file_new'])
})
