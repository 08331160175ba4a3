import { createHash } from 'node:crypto'
import { toCanonicalJson } from '../core/json.ts'
import type { StdioCommand } from './child.ts'

/** How the hub logs in at a server; see `oauth` in schemas/config.ts. */
export interface OAuthSettings {
  grant: 'authorization_code' | 'client_credentials'
  clientId?: string
  clientSecret?: string
  scope?: string
  issuer?: string
}

/** How a server is reached, and where its entry came from. Of two with one name the first kind here wins. */
export interface ServerSpec {
  name: string
  origin: 'config' | 'drop-in' | 'built-in'
  transport:
    | ({ kind: 'stdio' } & StdioCommand)
    | { kind: 'http'; url: string; headers: Record<string, string>; oauth?: OAuthSettings }
  /** In front of its tools' names. */
  prefix: string
  /** Milliseconds that connecting may take; the default where undefined. */
  connectTimeout?: number
  /** Milliseconds that a request may take without a result or progress; the default where undefined. */
  callTimeout?: number
  /** Each session gets a connection of its own. */
  isolated?: boolean
  /** The only era of the protocol to speak with it; found out where undefined. */
  era?: 'legacy' | 'modern'
  /** What its config or its folder calls it, where that is no name. */
  writtenAs?: string
}

/** One behind an address. */
export type HttpSpec = ServerSpec & { transport: Extract<ServerSpec['transport'], { kind: 'http' }> }

/** Equal for specs that start or reach the same server in the same way. */
export function specHash(spec: ServerSpec): string {
  return createHash('sha256').update(toCanonicalJson(spec)).digest('hex')
}
