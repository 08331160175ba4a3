import { expect, test } from 'vitest'
import { hashArguments, parseArguments } from './arguments.ts'

test('equal arguments have equal hashes, however they are written', () => {
  expect(hashArguments('{"a":1,"b":{"c":[1,2],"d":null}}')).toBe(
    hashArguments(' { "b": { "d": null, "c": [1, 2] }, "a": 1.0 } '),
  )
  expect(hashArguments('')).toBe(hashArguments('{}'))
  const different = ['{"a":1}', '{"a":"1"}', '{"a":[1]}', '{"a":1,"b":1}', '{"b":1}', '{a', '[1]', '{}']
  expect(new Set(different.map(hashArguments)).size).toBe(different.length)
})

test('only an object is taken for arguments', () => {
  expect(parseArguments(' ')).toEqual({})
  expect(['[]', 'null', '1', '{'].map(parseArguments)).toEqual(Array(4).fill(undefined))
})
