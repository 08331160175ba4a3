import { expect, test } from 'vitest'
import { ExitTail } from './exit-tail.ts'

test.each([
  ['nothing', '', ''],
  ['one line', 'listening on stdio', 'listening on stdio'],
  [
    'a trace of Node',
    "file:///srv/server.ts:1\nthrow new Error('x')\n      ^\n\nError: no key set: set FOO_KEY\n    at file:///srv/server.ts:1:7\n    at node:internal/main:1\n\nNode.js v24.21.0",
    'Error: no key set: set FOO_KEY',
  ],
  [
    'a code in brackets',
    "node:internal/modules\n\nError [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'\n    at y {\n  code: 'ERR_MODULE_NOT_FOUND'\n}\n\nNode.js v24.21.0",
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'",
  ],
  [
    'a trace of Python',
    'Traceback (most recent call last):\n  File "<string>", line 1\nModuleNotFoundError: No module named \'x\'',
    "ModuleNotFoundError: No module named 'x'",
  ],
  [
    'what Node says of a value that is no error',
    "/srv/server.js:1\nthrow 'no key set'\n^\nno key set\n(Use `node --trace-uncaught ...` to show where the exception was thrown)\n\nNode.js v24.21.0",
    'no key set',
  ],
  [
    'a warning of Node',
    'Warning: Detected unsettled top-level await at file:///x.ts:1\nawait y\n^\n\n\n',
    'await y',
  ],
  [
    'npm',
    'npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/nope\nnpm error 404\nnpm error A complete log of this run can be found in: /root/.npm/x.log',
    'npm error 404 Not Found - GET https://registry.npmjs.org/nope',
  ],
  ['usage', 'usage: server FILE\n  --port N', 'usage: server FILE'],
])('of %s', (_name, text, words) => {
  const last = new ExitTail()
  for (const line of text.split('\n').filter(Boolean)) last.add(line)
  expect(last.text).toBe(words)
})

test('an error long ago is not why it ended, and a long line is cut', () => {
  const last = new ExitTail()
  last.add('Error: could not read the cache')
  for (let index = 0; index < 40; index++) last.add(`request ${index}`)
  expect(last.text).toBe('request 39')
  last.add('x'.repeat(1_000))
  expect(last.text).toHaveLength(300)
})
