import { IssuerMismatchError } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { describeFault } from './faults.ts'

test('what is secret is left out, whoever quotes it, in a cause too', () => {
  const cause = new Error('Raw body: refresh_token=r-123&client_secret=hush-hush')
  const error = new Error('HTTP 500 for r-123', { cause })
  expect(describeFault(error, ['r-123', 'hush-hush', undefined, ''])).toBe(
    'HTTP 500 for ***: Raw body: refresh_token=***&client_secret=***',
  )
})

test('of a page that stands for an error the beginning is enough', () => {
  expect(describeFault(new Error('x'.repeat(10_000)), [])).toBe(`${'x'.repeat(300)}…`)
})

test('what the address says that a browser came back with is not quoted where another sent it', () => {
  const error = new IssuerMismatchError(
    'authorization_response',
    'https://good.example',
    'https://evil.example',
  )
  expect(describeFault(error, [])).toBe('the browser came back from another issuer than https://good.example')
})
