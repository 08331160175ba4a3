import { expect, test } from 'vitest'
import { askAll, toFailedLines } from './ask-all.ts'

const sources = ['nas', 'pi'].map(name => ({ name }))
const { signal } = new AbortController()

test('tells who answered, and who did not and why', async () => {
  const ask = async ({ name }: { name: string }) => {
    if (name === 'nas') throw new Error('it is down')
    return 7
  }
  const { found, failed } = await askAll(sources, ask, signal)
  expect(found).toEqual([{ source: { name: 'pi' }, value: 7 }])
  expect(toFailedLines(failed)).toEqual(['Not asked: nas. nas failed. it is down'])
})

test('fails as the first one if nobody answered', async () => {
  const ask = ({ name }: { name: string }) => Promise.reject(new Error(`${name} is down`))
  await expect(askAll(sources, ask, signal)).rejects.toThrow('nas is down')
  expect((await askAll([], ask, signal)).found).toEqual([])
})
