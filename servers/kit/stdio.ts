import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { announceEvents, createProtocolServer } from './protocol.ts'
import type { Served } from './serve.ts'
import type { App } from './server.ts'

/** Serves the client at the other end of stdin and stdout. `closed` resolves when stdin ends or stdout breaks. */
export function openStdio(app: App): Served {
  const wire = new StdioServerTransport()
  const handle = serveStdio(
    ({ era }) => {
      const server = createProtocolServer(app, { era })
      if (era === 'modern') announceEvents(server, app)
      return server
    },
    { transport: wire, onerror: error => app.log('warn', 'stdio error', { error }) },
  )
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const onClose = wire.onclose
  wire.onclose = () => {
    onClose?.()
    resolve()
  }
  return { closed, [Symbol.asyncDispose]: () => handle.close() }
}
