import type { IncomingMessage } from 'node:http'

/** An HTTP request that a server received, whose method and URL are therefore known. */
export type McpRequest = IncomingMessage & { method: string; url: string }
