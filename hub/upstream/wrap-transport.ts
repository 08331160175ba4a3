import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'

/**
 * Wraps `inner` for the SDK's client, without the messages that `take` keeps. The wrapper has the same
 * properties, since the client tells standard streams from HTTP by them.
 */
export function wrapTransport(inner: Transport, take: (message: JSONRPCMessage) => boolean): Transport {
  const wrapper: Transport = {
    start: () => inner.start(),
    send: (message, options) => inner.send(message, options),
    close: () => inner.close(),
    setProtocolVersion: version => inner.setProtocolVersion?.(version),
    setSupportedProtocolVersions: versions => inner.setSupportedProtocolVersions?.(versions),
    get sessionId() {
      return inner.sessionId
    },
    ...(inner.hasPerRequestStream === undefined ? {} : { hasPerRequestStream: inner.hasPerRequestStream }),
    ...('stderr' in inner && 'pid' in inner ? { stderr: inner.stderr, pid: inner.pid } : {}),
  }
  inner.onmessage = (message, extra) => {
    if (!take(message)) wrapper.onmessage?.(message, extra)
  }
  inner.onclose = () => wrapper.onclose?.()
  const watch = inner.onerror
  inner.onerror = error => {
    watch?.(error)
    wrapper.onerror?.(error)
  }
  return wrapper
}
