import { expect, test } from 'vitest'
import { decideRedirect } from './redirect.ts'

const HERE = new URL('http://gpu.lan/v1/models')

test.each([
  ['POST', 307, '/v2/models', 'http://gpu.lan/v2/models'],
  ['POST', 308, 'https://gpu.lan/v1/models', 'https://gpu.lan/v1/models'],
  ['GET', 301, 'https://gpu.lan/v1/models', 'https://gpu.lan/v1/models'],
  ['POST', 308, 'http://gpu.lan:8080/', undefined],
  ['POST', 308, 'https://gpu.lan:8443/', undefined],
  ['GET', 307, 'http://169.254.169.254/latest', undefined],
  ['GET', 307, '//evil.example/v1', undefined],
  ['GET', 307, 'file:///etc/passwd', undefined],
  ['GET', 307, undefined, undefined],
  ['POST', 302, '/v2/models', undefined],
  ['GET', 200, '/v2/models', undefined],
])('%s, %i to %s is repeated at %s', (method, status, location, at) => {
  expect(decideRedirect(method, HERE, { status, location })?.href).toBe(at)
})

test('a request over https is not repeated over http', () => {
  const moved = { status: 307, location: 'http://gpu.lan/' }
  expect(decideRedirect('GET', new URL('https://gpu.lan/'), moved)).toBeUndefined()
})
