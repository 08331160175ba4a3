import { expect, test } from 'vitest'
import { withoutComments } from './json-comments.ts'

test('comments and last commas of JSON become spaces, and every line and column stays', () => {
  const text = `\uFEFF// the top
{
  "url": "http://x/*no*/", // a // comment
  /* two
     lines */
  "args": ["a", "b\\"//", ], // last
}
`
  const plain = withoutComments(text)
  expect(JSON.parse(plain)).toEqual({ url: 'http://x/*no*/', args: ['a', 'b"//'] })
  expect(plain).toHaveLength(text.length)
  expect(plain.split('\n')[5]?.indexOf('"args"')).toBe(2)
})

test.each(['url: http://x/y # z', 'servers:\n  a: { url: http://x, }', '// no JSON', ''])('%j stays', text =>
  expect(withoutComments(text)).toBe(text),
)

test.each(['/*'.repeat(100_000), '"\\'.repeat(100_000), '//'.repeat(100_000), '"'.repeat(200_000)])(
  'a text that only begins to be JSON takes no longer than another',
  text => expect(withoutComments(text)).toBe(text),
)
