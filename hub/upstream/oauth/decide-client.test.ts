import { AuthorizationServerMismatchError } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { decideClient } from './decide-client.ts'

const HERE = 'https://people.example'
const ELSEWHERE = 'https://evil.example'
const REGISTERED = { client_id: 'given', client_secret: 'hush', issuer: HERE }
const OWN = { clientId: 'mine', clientSecret: 'secret' }

test.each([
  ['nothing is known', {}, undefined, HERE, undefined],
  ['the hub registered there', {}, REGISTERED, HERE, REGISTERED],
  ['the hub registered there, spelled with a slash', {}, REGISTERED, `${HERE}/`, REGISTERED],
  ['the hub registered elsewhere', {}, REGISTERED, ELSEWHERE, undefined],
  ['the config has one', OWN, undefined, HERE, { client_id: 'mine', client_secret: 'secret', issuer: HERE }],
  [
    'the config has another one by now',
    OWN,
    REGISTERED,
    ELSEWHERE,
    expect.objectContaining({ client_id: 'mine' }),
  ],
  [
    'the config has one without a secret',
    { clientId: 'mine' },
    undefined,
    HERE,
    { client_id: 'mine', issuer: HERE },
  ],
  [
    'the config has the address of a document',
    { clientId: 'https://me.example/client.json' },
    undefined,
    HERE,
    undefined,
  ],
])('%s', (_what, settings, kept, issuer, expected) => {
  expect(decideClient(settings, kept, issuer)).toEqual(expected)
})

test.each([
  ['the config names the only one', { ...OWN, issuer: HERE }, undefined],
  ['the client was bound by the first login', OWN, { client_id: 'mine', issuer: HERE }],
])('a secret is shown to no other authorization server: %s', (_what, settings, kept) => {
  expect(() => decideClient(settings, kept, ELSEWHERE)).toThrow(AuthorizationServerMismatchError)
  expect(decideClient(settings, kept, HERE)).toMatchObject({ client_id: 'mine' })
})
