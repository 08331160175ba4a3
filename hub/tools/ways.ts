import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, SseError } from '@modelcontextprotocol/client'
import type { ServerSpec } from './server-spec.ts'

/** How a server is spoken with: probed, in one way at once, or in the way before Streamable HTTP. */
export type Way = 'auto' | 'legacy' | 'modern' | 'sse'

/** What was found out of a server. */
export type Verdict = 'modern' | 'legacy' | 'sse'

/**
 * Another way to connect after an attempt failed; undefined where none makes sense. A server that ends or errs when
 * probed may be a legacy one: some exit on anything before `initialize`. One that answers 400, 404 or 405 may be one
 * of before Streamable HTTP (2025-06-18, transports, backwards compatibility). What was remembered may be old.
 */
export function decideNextWay(
  { transport, era }: Pick<ServerSpec, 'transport' | 'era'>,
  tried: readonly Way[],
  error: unknown,
): Way | undefined {
  const isRefused = error instanceof SdkHttpError && [400, 404, 405].includes(error.status)
  if (transport.kind === 'http' && era !== 'modern' && isRefused && !tried.includes('sse')) return 'sse'
  // What the entry says is not tried otherwise; the transport of before is legacy too.
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
