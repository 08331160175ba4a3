import { expect } from 'vitest'
import { openClient } from './clients.ts'
import { send } from './raw-http.ts'
import type { TestHub } from './test-hub.ts'

type At = Pick<TestHub, 'url' | 'token'>

/** Calls one of the hub's tools as the owner; returns the token, or that of the link, which it made. */
export async function make(at: At, name: string, args: object): Promise<string> {
  await using client = await openClient('sdk 2, 2026-07-28', at)
  const { structuredContent, isError } = await client.call(name, { ...args })
  expect([name, isError ?? false]).toEqual([name, false])
  const { token, link } = structuredContent as { token?: string; link?: string }
  return token ?? new URLSearchParams(new URL(link ?? 'x:/').hash.slice(1)).get('token') ?? ''
}

/** Lets a person in; returns the token of the link. */
export function invite(at: At, name: string, role: 'member' | 'guest'): Promise<string> {
  return make(at, 'hub_add_person', { name, role })
}

/** Exchanges a token or that of a link for a session's token. */
export async function signIn(at: At, secret: string): Promise<string> {
  const answer = await send(`${at.url}/session`, { method: 'POST', headers: bearer(secret) })
  expect(answer.status).toBe(201)
  return (answer.json as { token: string }).token
}

export function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { Authorization: `Bearer ${token}` }
}

export const AGENT = (shared: boolean | string) =>
  `---\ndescription: Looks after something\nshared: ${shared}\n---\n\nYou look after it.\n`
