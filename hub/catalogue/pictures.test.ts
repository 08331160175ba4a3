import { expect, test } from 'vitest'
import { makePng } from '../../tests/support/make-png.ts'
import { readPicture } from '../core/picture.ts'
import { takePictures } from './pictures.ts'

const image = (data: string, mimeType = 'image/png') => ({ type: 'image' as const, data, mimeType })

test('a picture that fits goes to the model as it is, under the type that it has', async () => {
  const data = makePng(40, 30)
  expect(await takePictures({ content: [image(data, 'image/jpeg')] })).toEqual([
    { mimeType: 'image/png', data },
  ])
})

test('a picture that is too large is drawn smaller, in its proportions', async () => {
  const [taken] = await takePictures({ content: [image(makePng(2_400, 1_200))] })
  expect(readPicture(taken?.data ?? '')).toEqual({
    mimeType: 'image/png',
    size: { width: 1_568, height: 784 },
  })
})

test('a picture that stays too heavy is drawn smaller again', async () => {
  const noisy = makePng(1_500, 700, true)
  expect(noisy.length).toBeGreaterThan(700_000)
  const [taken] = await takePictures({ content: [image(noisy)] })
  expect(taken?.data.length).toBeLessThanOrEqual(700_000)
  expect(readPicture(taken?.data ?? '')?.size?.width).toBeLessThan(1_000)
})

test.each([
  ['no picture at all', 'bm90IGEgcGljdHVyZSBhdCBhbGwsIGp1c3QgdGV4dCBvZiBzb21lIGxlbmd0aA=='],
  [
    'one of more pixels than memory has',
    Buffer.from(makePng(40, 30), 'base64').fill(0x7f, 16, 24).toString('base64'),
  ],
])('%s is left out', async (_, data) => {
  expect(await takePictures({ content: [{ type: 'text', text: 'here it is' }, image(data)] })).toHaveLength(0)
})

test('of many pictures the first four are taken', async () => {
  const content = Array.from({ length: 6 }, () => image(makePng(10, 10)))
  expect(await takePictures({ content })).toHaveLength(4)
})
