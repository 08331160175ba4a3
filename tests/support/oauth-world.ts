import { z } from 'zod'
import { openClient, textOf } from './clients.ts'
import { untilReady } from './downstream.ts'
import { createHttpServer, type Guard, type HttpServer, type Kind } from './http-servers.ts'
import { type AuthorizationServer, startAuthorizationServer } from './oauth-server.ts'
import { readRows } from './read-rows.ts'
import { startTestHub, type TestHub } from './test-hub.ts'
import { until } from './until.ts'

export interface OAuthWorldOptions {
  kind?: Kind
  /** Fields of the server's entry besides its url. */
  entry?: object
  /** The scope that each tool of a 2026-07-28 server needs. */
  scopes?: Record<string, string>
  /** True if clients may register themselves; default true. */
  registers?: boolean
  /** The name of the machine in the authorization server's address; default that of the server's. */
  host?: string
  /** Replaces the authorization server's own guard. */
  guard?: (own: Guard) => Guard
}

const begun = z.object({ url: z.string(), state: z.string() })
const refused = z.object({ error: z.object({ message: z.string() }) })
const servers = z.object({
  servers: z.array(
    z.object({ name: z.string(), state: z.string(), tools: z.number(), error: z.string().optional() }),
  ),
})

/** A hub with the server `remote`, which needs a login, and the authorization server for it. */
export class OAuthWorld implements AsyncDisposable {
  readonly people: AuthorizationServer
  readonly remote: HttpServer
  readonly hub: TestHub
  readonly #stack: AsyncDisposableStack

  private constructor(
    people: AuthorizationServer,
    remote: HttpServer,
    hub: TestHub,
    stack: AsyncDisposableStack,
  ) {
    this.people = people
    this.remote = remote
    this.hub = hub
    this.#stack = stack
  }

  static async open({
    kind = 'modern',
    entry,
    scopes,
    registers = true,
    host = '127.0.0.1',
    guard = own => own,
  }: OAuthWorldOptions = {}): Promise<OAuthWorld> {
    await using stack = new AsyncDisposableStack()
    const people = stack.use(await startAuthorizationServer({ registers, host }))
    const remote = stack.use(createHttpServer(kind, guard(people.guard(scopes))))
    await remote.start(['one', 'two'])
    const config = JSON.stringify({ servers: { metrics: false, remote: { url: remote.url, ...entry } } })
    const hub = stack.use(await startTestHub({ config }))
    return new OAuthWorld(people, remote, hub, stack.move())
  }

  /** Adds another server. */
  async add(name: string, kind: Kind, guard?: Guard): Promise<HttpServer> {
    const server = this.#stack.use(createHttpServer(kind, guard))
    await server.start(['near'])
    const entries = { remote: { url: this.remote.url }, [name]: { url: server.url } }
    this.hub.writeConfig(JSON.stringify({ servers: { metrics: false, ...entries } }))
    return server
  }

  defer(end: () => void): void {
    this.#stack.defer(end)
  }

  /** Returns the server's entry in `hub_status`. */
  async status(server = 'remote') {
    await using client = await openClient('sdk 2, 2026-07-28', this.hub)
    const { structuredContent } = await client.call('hub_status')
    return servers.parse(structuredContent).servers.find(({ name }) => name === server)
  }

  async call(tool: string): Promise<string> {
    await using client = await openClient('sdk 2, 2026-07-28', this.hub)
    return textOf(await client.call(tool))
  }

  /** Waits for the server to be down for want of a login; returns its entry in `hub_status`. */
  untilAsked(server = 'remote') {
    const words = `run superbloom servers login ${server}`
    return until(`${server} asks for a login`, async () => {
      const found = await this.status(server)
      return found?.state === 'down' && found.error?.includes(words) && found
    })
  }

  /** Returns the login at a server as it is in the store; undefined for none. */
  loginOf(server = 'remote'): string | undefined {
    const find = `select login_json as login from server_logins where server = '${server}'`
    return readRows<{ login: string }>(this.hub.stored, find)[0]?.login
  }

  /** Begins a login as the command does. */
  async beginLogin(server = 'remote'): Promise<z.infer<typeof begun>> {
    const response = await fetch(new URL('/oauth/logins', this.hub.url), {
      method: 'POST',
      headers: { ...this.#headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ server }),
    })
    const answer = await response.json()
    if (response.ok) return begun.parse(answer)
    throw new Error(refused.parse(answer).error.message)
  }

  /** Returns the state of a login. */
  async look(state: string): Promise<unknown> {
    return (await fetch(new URL(`/oauth/logins/${state}`, this.hub.url), { headers: this.#headers })).json()
  }

  /** Completes a login as a person would; resolves when the server is ready. */
  async logIn(server = 'remote'): Promise<void> {
    const back = await fetch((await this.beginLogin(server)).url)
    if (!back.ok) throw new Error(await back.text())
    await untilReady(this.hub, server)
  }

  /** Logs in and revokes the access tokens. Renewals wait until the returned function is called. */
  async openStale(): Promise<() => void> {
    await this.untilAsked()
    await this.logIn()
    this.people.revoke()
    const gate = Promise.withResolvers<void>()
    this.people.onRefresh = () => gate.promise
    return gate.resolve
  }

  /** Waits for a request to renew tokens. */
  async untilRenewing(): Promise<void> {
    await until('it is asked for new ones', () => this.people.asked.includes('refresh'))
  }

  /** Returns the issued secrets that appear anywhere outside the store. */
  async shownSecrets(...said: string[]): Promise<string[]> {
    const shown = [...said, JSON.stringify(this.hub.logs.all), JSON.stringify(await this.status())].join('\n')
    return [...this.people.secrets].filter(secret => shown.includes(secret))
  }

  get #headers() {
    return { Authorization: `Bearer ${this.hub.token}` }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }
}
