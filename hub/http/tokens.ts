import { toFreeName } from '../../schemas/names.ts'
import {
  HUB,
  type ListedPerson,
  type ListedToken,
  type MadeToken,
  OWNER,
  RESERVED,
  type Role,
} from '../../schemas/tokens.ts'
import { type Clock, MAX_DELAY } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import type { NewId } from '../core/ids.ts'
import type { Log } from '../core/log.ts'
import { may, type Principal } from '../core/principal.ts'
import { createBuckets } from '../core/rate-limit.ts'
import type { Signals } from '../core/signals.ts'
import type { TokenRow } from '../store/door-tables.ts'
import type { Store } from '../store/open.ts'
import {
  changeTokens,
  deletePerson,
  endToken,
  markUsed,
  readPeople,
  readTokens,
  recordOwnerToken,
  revokeOwnerSecrets,
  savePerson,
  type TokenChange,
} from '../store/tokens.ts'
import type { Tx } from '../store/writer.ts'
import { isOwnersToken, makeOwnerRow, type OwnerToken, readOwnerTokens } from './owner-tokens.ts'
import { checkConversations, decideTitle, listPeople } from './people.ts'
import { isProgram, makeToken, toHash, toListed, toPrincipal } from './token-rows.ts'

const DAY = 86_400_000
/** Milliseconds without use after which a session ends, and in which a link is to be opened. */
const SESSION_MS = 30 * DAY
const LINK_MS = DAY
/** Milliseconds in which the owner's own link is to be opened: it stands on a screen, and opens everything. */
const OWNER_LINK_MS = 10 * 60_000
/** Milliseconds for which the last use is kept in memory alone. */
const USE_MS = 60_000
/** Sessions of one person; beyond that the one that was used least recently ends. */
const MOST_SESSIONS = 50
/** Sign-ins of one name: each leaves rows that stay. */
const SIGN_INS = { perSecond: 1 / 60, burst: 100 }
/** Tokens that are open at once. */
const MOST_TOKENS = 1_000

export interface TokensDeps {
  store: Store
  clock: Clock
  newId: NewId
  log: Log
  signals: Signals
  owner: OwnerToken
}

/** The tokens that open the hub, and the people who may sign in. What it resolves with is on the disk. */
export class Tokens implements Disposable {
  readonly #deps: TokensDeps
  readonly #maySignIn = createBuckets(SIGN_INS)
  readonly #byHash = new Map<string, TokenRow>()
  /** The sockets and streams that end together with a token. */
  readonly #held = new Map<string, Set<() => void>>()
  #owner: TokenRow
  /** Secret of the owner's token. */
  ownerSecret: string
  #cancelExpiry: (() => void) | undefined
  /** The last change: each waits for the one before, so that two never take one name. */
  #turn: Promise<unknown> = Promise.resolve()

  private constructor(deps: TokensDeps, secret: string, rows: readonly TokenRow[]) {
    this.#deps = deps
    this.ownerSecret = secret
    this.#owner = makeOwnerRow(deps, secret)
    for (const row of [...rows, this.#owner]) this.#byHash.set(row.hash, row)
    this.#armExpiry()
  }

  static async open(deps: TokensDeps): Promise<Tokens> {
    const { db } = deps.store
    const { secret, others } = await readOwnerTokens(db, deps.owner, deps)
    const tokens = new Tokens(deps, secret, [...others, ...(await readTokens(db))])
    await tokens.#recordOwner(HUB)
    return tokens
  }

  /** Returns who holds a secret, and notes the use; undefined for a secret that opens nothing. */
  find(secret: string): Principal | undefined {
    return this.#enter(secret, ['token', 'session'])
  }

  /** Returns who holds an OAuth grant, and notes the use; undefined for one that ended. */
  ofGrant(grant: string): Principal | undefined {
    return this.#enter(grant, ['grant'])
  }

  /** Adds an OAuth grant under a name like that of its client; it ends a month after its last use. */
  addGrant(grant: string, client: string, by: string): Promise<void> {
    return this.#exclusive(async () => {
      const people = await readPeople(this.#deps.store.db)
      const taken = new Set([...RESERVED, ...[...people, ...this.#current()].map(({ name }) => name)])
      const name = toFreeName(client, taken) ?? toFreeName('client', taken) ?? grant
      const asked = { kind: 'grant', name, role: 'client', lasts: SESSION_MS, secret: grant } as const
      await this.#change({ by, ending: [], made: [makeToken(this.#deps, asked).row] })
    })
  }

  /** Ends an OAuth grant, if it has not ended. */
  async endGrant(grant: string): Promise<void> {
    const row = this.#find(grant)
    if (row?.kind === 'grant') await this.revoke(row.id, row.name)
  }

  /** Runs `end` once the principal's token opens nothing any more, until the returned function is called. */
  hold({ id }: Principal, end: () => void): () => void {
    const held = this.#held.get(id) ?? new Set()
    this.#held.set(id, held.add(end))
    return () => {
      held.delete(end)
      if (held.size === 0) this.#held.delete(id)
    }
  }

  async list(): Promise<{ tokens: ListedToken[]; people: ListedPerson[] }> {
    const tokens = this.#current().filter(row => !isOwnersToken(row))
    return { tokens: tokens.map(toListed), people: await listPeople(this.#deps.store.db) }
  }

  /** Makes a token. Throws `conflict` where the name is taken, unless it is to replace that token. */
  create(asked: {
    name: string
    role: Role
    tools?: readonly string[] | undefined
    expiresIn?: number | undefined
    replace?: boolean | undefined
    by: string
  }): Promise<MadeToken> {
    return this.#exclusive(async () => {
      const { name, role, tools, expiresIn, replace = false, by } = asked
      const same = this.#current().filter(row => isProgram(row) && row.name === name)
      const people = await readPeople(this.#deps.store.db)
      if (people.some(person => person.name === name))
        throw new HubError('conflict', `${name} is a person's name; a token needs another one.`)
      if (same.length > 0 && !replace)
        throw new HubError('conflict', `There is a token ${name} already; revoke it, or replace it.`)
      const made = makeToken(this.#deps, { kind: 'token', name, role, tools, lasts: expiresIn })
      await this.#change({ by, ending: same, made: [made.row] })
      return made
    })
  }

  /** Ends the tokens with this id or name; returns them. */
  revoke(which: string, by: string): Promise<ListedToken[]> {
    return this.#exclusive(async () => {
      const meant = this.#current().filter(
        row => !isOwnersToken(row) && (row.id === which || row.name === which),
      )
      await this.#change({ by, ending: meant })
      return meant.map(toListed)
    })
  }

  /** Ends every token; the owner's is replaced, where the hub keeps it itself, and those of other hubs end. */
  revokeAll(by: string): Promise<{ revoked: ListedToken[]; isOwnerReplaced: boolean }> {
    return this.#exclusive(async () => {
      const all = this.#current().filter(row => !isOwnersToken(row))
      await this.#change({ by, ending: all }, revokeOwnerSecrets)
      const secret = this.#deps.owner.replace?.()
      const owners = this.#current().filter(isOwnersToken)
      for (const { hash } of owners) this.#byHash.delete(hash)
      if (secret !== undefined) {
        this.ownerSecret = secret
        this.#owner = makeOwnerRow(this.#deps, secret)
      }
      this.#byHash.set(this.#owner.hash, this.#owner)
      for (const { id } of owners) this.#end(id)
      await this.#recordOwner(by)
      return { revoked: all.map(toListed), isOwnerReplaced: secret !== undefined }
    })
  }

  /**
   * Makes a link for a person to sign in once; the first adds the person. Throws `conflict` where the written
   * name, `title`, is not that of the person who has the name.
   */
  invite(
    { name, title }: { name: string; title: string },
    role: ListedPerson['role'] | undefined,
    by: string,
  ): Promise<MadeToken & { role: Role; title: string }> {
    return this.#exclusive(async () => {
      const { store, clock } = this.#deps
      const known = (await readPeople(store.db)).find(person => person.name === name)
      if (!known && this.#current().some(row => isProgram(row) && row.name === name))
        throw new HubError('conflict', `${name} is the name of a token; a person needs another one.`)
      if (!known) await checkConversations(store.db, name)
      const shown = await decideTitle(store.db, { name, title }, known !== undefined)
      const given = role ?? known?.role ?? 'member'
      const made = makeToken(this.#deps, { kind: 'link', name, role: given, lasts: LINK_MS })
      const stale = known && known.role !== given ? this.#ofPerson(name) : []
      await this.#change({ by, ending: stale, made: [made.row] }, tx =>
        savePerson(tx, { name, role: given, created_at: clock.now() }, shown),
      )
      return { ...made, role: given, title: shown }
    })
  }

  /** Makes a link for the owner to sign in once, within ten minutes. */
  inviteOwner(by = HUB): Promise<MadeToken> {
    const made = makeToken(this.#deps, { kind: 'link', name: OWNER, role: OWNER, lasts: OWNER_LINK_MS })
    return this.#exclusive(() => this.#change({ by, ending: [], made: [made.row] })).then(() => made)
  }

  /** Ends a person's sign-ins; false if there is no such person. */
  remove(name: string, by: string): Promise<boolean> {
    return this.#exclusive(async () => {
      let isKnown = false
      await this.#change({ by, ending: this.#ofPerson(name) }, async tx => {
        isKnown = await deletePerson(tx, name)
      })
      return isKnown
    })
  }

  /**
   * Exchanges a person's token, or a link, for a session; undefined for a secret that opens none, such as that of a
   * session. Throws `rate_limited`.
   */
  signIn(secret: string): Promise<(MadeToken & { principal: Principal }) | undefined> {
    return this.#exclusive(async () => {
      const row = this.#find(secret)
      if (!row || row.kind === 'session' || !may(toPrincipal(row), 'session')) return undefined
      if (!this.#maySignIn(row.name, this.#deps.clock.monotonic()))
        throw new HubError('rate_limited', `${row.name} signs in too often; wait a minute.`)
      const made = makeToken(this.#deps, {
        kind: 'session',
        name: row.name,
        role: row.role,
        lasts: SESSION_MS,
      })
      const others = this.#current().filter(each => each.kind === 'session' && each.name === row.name)
      const used = (each: TokenRow) => each.last_used_at ?? each.created_at
      const [oldest] = others.sort((one, other) => used(one) - used(other))
      const ending = oldest && others.length >= MOST_SESSIONS ? [oldest] : []
      if (row.kind === 'link') {
        // Two devices that open a link at once: one of them is in.
        const isFirst = await this.#deps.store.write(tx => endToken(tx, row.id, this.#deps.clock.now()))
        this.#byHash.delete(row.hash)
        if (!isFirst) return undefined
      }
      await this.#change({ by: row.name, from: row, ending, made: [made.row] })
      return { ...made, principal: toPrincipal(made.row) }
    })
  }

  /** Ends a principal's session; false if the token is no session's. */
  async signOut({ id, name }: Principal): Promise<boolean> {
    const isSession = this.#current().some(row => row.id === id && row.kind === 'session')
    if (isSession) await this.revoke(id, name)
    return isSession
  }

  [Symbol.dispose](): void {
    this.#cancelExpiry?.()
  }

  #exclusive<Result>(change: () => Promise<Result>): Promise<Result> {
    const done = this.#turn.then(change, change)
    this.#turn = done
    return done
  }

  #enter(secret: string, kinds: readonly TokenRow['kind'][]): Principal | undefined {
    const row = this.#find(secret)
    if (!row || !kinds.includes(row.kind)) return undefined
    this.#use(row)
    return toPrincipal(row)
  }

  #find(secret: string): TokenRow | undefined {
    const row = this.#byHash.get(toHash(secret))
    return row && !this.#isOver(row) ? row : undefined
  }

  #isOver({ expires_at }: TokenRow): boolean {
    return expires_at !== null && expires_at <= this.#deps.clock.now()
  }

  #current(): TokenRow[] {
    return [...this.#byHash.values()].filter(row => !this.#isOver(row))
  }

  #ofPerson(name: string): TokenRow[] {
    return this.#current().filter(row => !isProgram(row) && row.name === name)
  }

  #recordOwner(by: string): Promise<void> {
    const { store, clock, owner } = this.#deps
    const isShared = owner.isMade(this.ownerSecret)
    return recordOwnerToken(store, this.#owner, { hub: owner.hub, isShared, by, at: clock.now() })
  }

  /** Ends some tokens and adds others, in one commit with `also`. */
  async #change(change: TokenChange, also?: (tx: Tx) => Promise<void>): Promise<void> {
    const { store, clock } = this.#deps
    const { ending, made = [] } = change
    if (this.#byHash.size + made.length - ending.length > MOST_TOKENS)
      throw new HubError('conflict', `There are ${MOST_TOKENS} tokens already; revoke some of them.`)
    await store.write(async tx => {
      await changeTokens(tx, change, clock.now())
      await also?.(tx)
    })
    for (const row of ending) {
      this.#byHash.delete(row.hash)
      this.#end(row.id)
    }
    for (const row of made) this.#byHash.set(row.hash, row)
    this.#armExpiry()
  }

  #end(id: string): void {
    for (const end of [...(this.#held.get(id) ?? [])]) end()
    this.#deps.signals.emit('tokenEnded', { id })
  }

  #use(row: TokenRow): void {
    const { store, clock, log } = this.#deps
    const now = clock.now()
    if (isOwnersToken(row) || now - (row.last_used_at ?? 0) < USE_MS) return
    row.last_used_at = now
    if (row.kind === 'session' || row.kind === 'grant') row.expires_at = now + SESSION_MS
    store
      .write(tx => markUsed(tx, row), 'relaxed')
      .catch(error => log.warn('token_use_not_stored', { token: row.name, error }))
  }

  /** Ends what a token holds open at the time at which it expires. */
  #armExpiry(): void {
    const { clock } = this.#deps
    this.#cancelExpiry?.()
    const times = [...this.#byHash.values()].flatMap(({ expires_at }) => expires_at ?? [])
    this.#cancelExpiry =
      times.length === 0
        ? undefined
        : clock.after(Math.min(MAX_DELAY, Math.max(0, Math.min(...times) - clock.now())), () => {
            for (const row of [...this.#byHash.values()].filter(each => this.#isOver(each))) {
              this.#byHash.delete(row.hash)
              this.#end(row.id)
            }
            this.#armExpiry()
          })
  }
}
