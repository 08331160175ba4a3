import { createInterface, type Interface } from 'node:readline/promises'
import { z } from 'zod'
import { sleep, systemClock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'
import { createTrustedFetch } from '../core/trusted-fetch.ts'
import { findHub, type RunningHub } from './find-hub.ts'
import { print } from './print.ts'
import { describeServer, untilTaken } from './server-state.ts'

const LOOK_MS = 250

const begun = z.object({ state: z.string(), url: z.string(), redirectUrl: z.string() })
const looked = z.object({ status: z.enum(['waiting', 'done', 'failed']), error: z.string().optional() })
const forgot = z.object({ forgotten: z.boolean() })
const refusal = z.object({ error: z.object({ message: z.string() }) })

type Begun = z.infer<typeof begun>

/**
 * Lets a person log in at a server: prints the address, and waits until the browser returns to the hub, or
 * the address that it was sent to is pasted here. Exit code 1 where the server does not run then.
 */
export async function logIn(name: string): Promise<void> {
  const hub = findHub()
  const login = begun.parse(await ask(hub, 'POST', '/oauth/logins', { server: name }))
  print(`Open this address in a browser, and log in:\n\n${login.url}\n`)
  print(
    `The browser comes back to ${login.redirectUrl}. Where it cannot reach that, the hub being on another machine, paste here the address that it shows then.`,
  )
  const input = createInterface({ input: process.stdin })
  try {
    takePasted(input, hub, login)
    await untilOver(hub, login)
  } finally {
    input.close()
    // The input may be a pipe that nobody ends.
    process.stdin.destroy()
  }
  const server = await untilTaken(hub, name, found => found !== undefined)
  print(server ? describeServer(server) : `${name}: not there any more`)
  if (server?.state === 'down') process.exitCode = 1
}

/** Forgets a login; the server then needs a new one. */
export async function logOut(name: string): Promise<void> {
  const { forgotten } = forgot.parse(
    await ask(findHub(), 'DELETE', `/oauth/servers/${encodeURIComponent(name)}`),
  )
  print(
    forgotten
      ? `Forgot the login at ${name}. There the hub may still be listed: revoke it there too.`
      : `There was no login at ${name}.`,
  )
}

async function untilOver(hub: RunningHub, { state }: Begun): Promise<void> {
  for (;;) {
    const { status, error } = looked.parse(await ask(hub, 'GET', `/oauth/logins/${state}`))
    if (status === 'done') return
    if (status === 'failed') throw new HubError('unauthorized', error ?? 'The login failed')
    await sleep(systemClock, LOOK_MS)
  }
}

/** Forwards an address that a person pastes, as their browser would have. */
function takePasted(input: Interface, hub: RunningHub, { state }: Begun): void {
  input.on('line', line => {
    const text = line.trim()
    if (text === '') return
    const pasted = URL.canParse(text) ? new URL(text) : undefined
    if (pasted?.searchParams.get('state') !== state) {
      print('This is not the address that the browser was sent to at the end of this login.')
      return
    }
    // The hub reports the outcome to `untilOver`.
    createTrustedFetch(hub.certificate)(new URL(`/oauth/callback${pasted.search}`, hub.url)).catch(() =>
      print(`The hub at ${hub.url} does not answer.`),
    )
  })
}

async function ask(hub: RunningHub, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await createTrustedFetch(hub.certificate)(new URL(path, hub.url), {
    method,
    headers: { Authorization: `Bearer ${hub.token}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(cause => {
    throw new HubError('unavailable', `The hub at ${hub.url} does not answer`, { cause })
  })
  const answer = parseJson(await response.text())
  if (response.ok) return answer
  const { data } = refusal.safeParse(answer)
  throw new HubError('unavailable', data?.error.message ?? `The hub at ${hub.url} answers ${response.status}`)
}
