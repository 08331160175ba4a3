import { describe, expect, it } from 'vitest'
import { placeImages } from './images.ts'
import { assistant, png, result, sketch, user } from './testing/messages.ts'

const picture = png(640, 480)
const history = [
  user('look', [picture]),
  assistant('', ['a', 'b']),
  result('a', 'one', [picture]),
  result('b', '', [picture, { mimeType: 'image/svg+xml', data: 'PHN2Zz4=' }]),
  assistant('seen'),
]

describe('placeImages', () => {
  it('leaves pictures where they may be', () => {
    const placed = placeImages(history, 'all')
    expect(placed.slice(0, 3)).toEqual(history.slice(0, 3))
    expect(placed[3]).toEqual(result('b', '[picture: image/svg+xml — it cannot be read]', [picture]))
  })

  it('moves those of a step behind its last result', () => {
    expect(sketch(placeImages(history, 'user'))).toEqual([
      'user: look (1 pictures)',
      'assistant:  +a +b',
      'tool a: one\n[picture: image/png, 640×480 — it follows the results]',
      'tool b: [picture: image/png, 640×480 — it follows the results]\n[picture: image/svg+xml — it cannot be read]',
      'user: [2 pictures of the results above, in this order: get_time, get_time] (2 pictures)',
      'assistant: seen',
    ])
    expect(sketch(placeImages(history.slice(0, 3), 'user')).at(-1)).toContain('(1 pictures)')
  })

  it('tells of them where nobody sees them', () => {
    expect(sketch(placeImages(history, 'none')).slice(0, 3)).toEqual([
      'user: look\n[picture: image/png, 640×480 — this model cannot see it]',
      'assistant:  +a +b',
      'tool a: one\n[picture: image/png, 640×480 — this model cannot see it]',
    ])
  })

  it('says of what kind a picture is by its bytes: Anthropic compares them', () => {
    const [message] = placeImages([user('', [{ ...picture, mimeType: 'image/jpeg' }])], 'all')
    expect(message).toEqual(user('', [picture]))
  })
})
