import { type JSONRPCRequest, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

/** Where the hub is now; it may have another address after a restart. */
export interface HubAddress {
  url: string
  token: string
  /** The door to MCP there: `/mcp`, `/mcp/<toolset>`, `/mcp?tools=lean`. */
  path: string
}

/**
 * A connection to a hub. `initialize` is the request by which a legacy client began before: its session is opened
 * with it once more, and the hub's answer is kept from the client. Throws what went wrong.
 */
export async function openHubSession(
  { url, token, path }: HubAddress,
  initialize: JSONRPCRequest | undefined,
): Promise<StreamableHTTPClientTransport> {
  const hub = new StreamableHTTPClientTransport(new URL(path, url), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  })
  await hub.start()
  if (!initialize) return hub
  try {
    const answered = Promise.withResolvers<string>()
    hub.onmessage = message => {
      const version = 'result' in message ? message.result['protocolVersion'] : undefined
      if (typeof version === 'string') answered.resolve(version)
      else answered.reject(new Error(`The hub refused a new session: ${JSON.stringify(message)}`))
    }
    const onRequestStreamEnd = () =>
      answered.reject(new Error('The hub went away while a session was opened'))
    await Promise.all([hub.send(initialize, { onRequestStreamEnd }), answered.promise])
    hub.setProtocolVersion(await answered.promise)
    await hub.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    return hub
  } catch (error) {
    await hub.close()
    throw error
  }
}
