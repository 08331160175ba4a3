import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, SseError } from '@modelcontextprotocol/client'
import type { ServerSpec } from './server-spec.ts'

/** The way to connect: by a probe, in one era at once, or over the transport before Streamable HTTP. */
export type Way = 'auto' | 'legacy' | 'modern' | 'sse'

/** The way that was found to work with a server. */
export type Verdict = 'modern' | 'legacy' | 'sse'

/**
 * Returns another way to connect after an attempt failed; undefined if none makes sense. A server that ends
 * or errs when probed may be a legacy one: some exit on anything before `initialize`. One that answers 400,
 * 404 or 405 may be older than Streamable HTTP (2025-06-18, transports, backwards compatibility). A
 * remembered way may be old.
 */
export function decideNextWay(
  { transport, era }: Pick<ServerSpec, 'transport' | 'era'>,
  tried: readonly Way[],
  error: unknown,
): Way | undefined {
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
