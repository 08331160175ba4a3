import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, SseError } from '@modelcontextprotocol/client'
import type { Clock } from '../core/clock.ts'
import { readVerdict, saveVerdict } from '../store/hub-state.ts'
import type { Store } from '../store/open.ts'
import { type ServerSpec, specHash } from './server-spec.ts'

/** The way to connect: by a probe, in one era at once, or over the transport before Streamable HTTP. */
export type Mode = 'auto' | 'legacy' | 'modern' | 'sse'

/** Milliseconds after which a server is probed again: an upgraded one would answer in the old way for ever. */
const TRUSTED_MS = 24 * 3_600_000

/** Remembers how a server is spoken with, so that the next start does not probe it. */
export interface NegotiationCache {
  read(spec: ServerSpec): Promise<Mode>
  save(spec: ServerSpec, found: Exclude<Mode, 'auto'>): Promise<void>
}

/**
 * Creates a cache of legacy servers and their transport. A modern server is probed each time: it answers in
 * one round trip, and what it advertises may change.
 */
export function createNegotiationCache(store: Store, clock: Clock): NegotiationCache {
  return {
    async read(spec) {
      const found = await readVerdict(store.db, specHash(spec))
      if (!found || clock.now() - found.at > TRUSTED_MS) return 'auto'
      return found.verdict === 'legacy' || found.verdict === 'sse' ? found.verdict : 'auto'
    },
    async save(spec, verdict) {
      await store.write(tx => saveVerdict(tx, specHash(spec), { verdict, at: clock.now() }))
    },
  }
}

/**
 * Returns another way to connect after an attempt failed; undefined if none makes sense. A server that ends
 * or errs when probed may be a legacy one: some exit on anything before `initialize`. One that answers 400,
 * 404 or 405 may be older than Streamable HTTP (2025-06-18, transports, backwards compatibility). A
 * remembered way may be old.
 */
export function decideNextMode(
  { transport, era }: Pick<ServerSpec, 'transport' | 'era'>,
  tried: readonly Mode[],
  error: unknown,
): Mode | undefined {
  const isRefused = error instanceof SdkHttpError && [400, 404, 405].includes(error.status)
  if (transport.kind === 'http' && era !== 'modern' && isRefused && !tried.includes('sse')) return 'sse'
  // An era in the entry allows no other way, except the older transport, which is legacy too.
  if (era !== undefined) return undefined
  if (tried.at(-1) === 'auto' && !tried.includes('legacy') && mayBeLegacy(transport.kind, error))
    return 'legacy'
  const answered = isRefused || error instanceof ProtocolError || error instanceof SseError
  return answered && !tried.includes('auto') ? 'auto' : undefined
}

function mayBeLegacy(kind: ServerSpec['transport']['kind'], error: unknown): boolean {
  if (!(error instanceof SdkError)) return false
  if (error.code === SdkErrorCode.EraNegotiationFailed) return true
  return kind === 'stdio' && error.code === SdkErrorCode.ConnectionClosed
}
