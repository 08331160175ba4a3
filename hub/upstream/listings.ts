import type { ServerCapabilities, Tool } from '@modelcontextprotocol/client'
import { decideBackoff } from '../core/backoff.ts'
import type { Clock } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import type { JsonObject } from '../core/forwarding.ts'
import type { Log } from '../core/log.ts'
import { NO_OFFER, OFFER_KINDS, type Offer, type OfferKind, readList } from './offer.ts'
import { WAITS } from './restarts.ts'

/** Milliseconds between two reads of lists that the server reports as changed. */
const REST_MS = 1_000

export interface ListingsDeps {
  clock: Clock
  random: () => number
  log: Log
  capabilities: ServerCapabilities
  /** Aborts when the connection ends. */
  signal: AbortSignal
  request: (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>
  /** Learns the tools, and returns those that clients may use. */
  learnTools: (tools: readonly Tool[]) => readonly Tool[]
  /** Called when a list was read again, or could not be. */
  onRead: () => void
  /** Called with the error of a list that could not be read again. */
  onFailed: (error: unknown) => void
}

/** Reads the lists of one connected server, also again when they changed or could not be read. */
export class Listings {
  readonly #deps: ListingsDeps
  readonly #reading = new Map<OfferKind, 'once' | 'again'>()
  readonly #leftOut = new Map<OfferKind, readonly string[]>()
  /** The lists that could not be read, each with the reason. */
  readonly unread = new Map<OfferKind, string>()
  offer: Offer = NO_OFFER
  #rereads = 0
  #cancelReread: (() => void) | undefined
  /** The lists to read after the rest. */
  readonly #changed = new Set<OfferKind>()
  #cancelRest: (() => void) | undefined

  constructor(deps: ListingsDeps) {
    this.#deps = deps
    const cancel = () => {
      this.#cancelReread?.()
      this.#cancelRest?.()
    }
    deps.signal.addEventListener('abort', cancel, { once: true })
  }

  /** The list entries that clients would refuse, each with the reason. */
  get leftOut(): readonly string[] {
    return [...this.#leftOut.values()].flat()
  }

  /** Reads all lists. Throws if the tools cannot be read, or if `isFatal` is true for an error of another. */
  async readAll(signal: AbortSignal, isFatal: (error: unknown) => boolean): Promise<void> {
    const readOne = async (kind: OfferKind) => {
      try {
        await this.#read(kind, signal)
      } catch (error) {
        if (kind === 'tools') throw new Error('its tools cannot be listed', { cause: error })
        signal.throwIfAborted()
        if (isFatal(error)) throw error
        this.#note(kind, error)
      }
    }
    await Promise.all(OFFER_KINDS.map(readOne))
    this.#rereadLater()
  }

  /**
   * Reads lists that the server reported as changed: at once, then once a second, because some servers report
   * a change with each list.
   */
  changed(kinds: readonly OfferKind[]): void {
    for (const kind of kinds) this.#changed.add(kind)
    if (this.#cancelRest || this.#changed.size === 0 || this.#deps.signal.aborted) return
    this.refresh([...this.#changed])
    this.#changed.clear()
    this.#cancelRest = this.#deps.clock.after(REST_MS, () => {
      this.#cancelRest = undefined
      this.changed([])
    })
  }

  /** Reads lists again, each by one request at a time; a change reported meanwhile causes one more. */
  refresh(kinds: readonly OfferKind[] = OFFER_KINDS): void {
    const { signal, onRead, onFailed } = this.#deps
    if (signal.aborted) return
    for (const kind of kinds) {
      if (this.#reading.has(kind)) {
        this.#reading.set(kind, 'again')
        continue
      }
      this.#read(kind, signal)
        .catch(error => {
          if (!signal.aborted) onFailed(error)
          // The connection may be lost by now.
          if (!signal.aborted) this.#note(kind, error)
        })
        .finally(() => {
          if (signal.aborted) return
          this.#rereadLater()
          onRead()
        })
    }
  }

  async #read(kind: OfferKind, signal: AbortSignal): Promise<void> {
    this.#reading.set(kind, 'once')
    const { capabilities, request, learnTools, log } = this.#deps
    const leftOut: string[] = []
    const leaveOut = (name: string, reason: string) => {
      leftOut.push(`${name}: ${reason}`)
      log.warn('entry_left_out', { kind, name, reason })
    }
    try {
      const ask = (method: string, params: JsonObject) => request(method, params, signal)
      const list = await readList(kind, capabilities, ask, leaveOut)
      // The other lists may have been read meanwhile.
      const offer = { ...this.offer, [kind]: list }
      if (kind === 'tools') {
        const all = offer.tools
        offer.tools = learnTools(all)
        const kept = new Set(offer.tools)
        for (const tool of all) if (!kept.has(tool)) leaveOut(tool.name, 'a wrong x-mcp-header')
      }
      this.unread.delete(kind)
      this.#leftOut.set(kind, leftOut)
      this.offer = offer
    } finally {
      const again = this.#reading.get(kind) === 'again'
      this.#reading.delete(kind)
      if (again) this.refresh([kind])
    }
  }

  #note(kind: OfferKind, error: unknown): void {
    this.unread.set(kind, describeError(error))
    this.#deps.log.warn('not_listed', { kind, error })
  }

  /** Reads the unread lists again after a back-off. */
  #rereadLater(): void {
    const { clock, random } = this.#deps
    if (this.unread.size === 0) {
      this.#rereads = 0
      this.#cancelReread?.()
      this.#cancelReread = undefined
      return
    }
    this.#cancelReread ??= clock.after(decideBackoff(++this.#rereads, WAITS, random), () => {
      this.#cancelReread = undefined
      this.refresh([...this.unread.keys()])
    })
  }
}
