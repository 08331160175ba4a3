import type { IncomingMessage } from 'node:http'

/** A request as servers get it: with a method. */
export type McpRequest = IncomingMessage & { method: string; url: string }
