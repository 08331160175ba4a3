import { createHash } from 'node:crypto'
import { toCanonicalJson } from '../core/json.ts'
import type { StdioCommand } from './stdio/child.ts'

/** The hub's settings for its login at a server; see `oauth` in schemas/config.ts. */
export interface OAuthSettings {
  grant: 'authorization_code' | 'client_credentials'
  clientId?: string
  clientSecret?: string
  scope?: string
  issuer?: string
  /** Hosts in private networks that the login may lead to, besides those of `url` and `issuer`. */
  hosts?: string[]
}

/** Says how a server is reached and where it came from. Of two with one name the first `origin` wins. */
export interface ServerSpec {
  name: string
  origin: 'config' | 'drop-in' | 'built-in'
  transport:
    | ({ kind: 'stdio' } & StdioCommand)
    | { kind: 'http'; url: string; headers: Record<string, string>; oauth?: OAuthSettings }
  /** `own` if its annotations and events are believed; default `third`. */
  trust?: 'own' | 'third'
  /** Why it runs without the sandbox that it should have. */
  uncontained?: string
  /** True if it may ask the model of an agent that calls it. */
  sampling?: boolean
  /** The prefix of its tools' names. */
  prefix: string
  /** Milliseconds that connecting may take; the default if undefined. */
  connectTimeout?: number
  /** Milliseconds that a request may take without a result or progress; the default if undefined. */
  callTimeout?: number
  /** True if each session gets its own connection. */
  isolated?: boolean
  /** The only era of the protocol to speak with it; found out if undefined. */
  era?: 'legacy' | 'modern'
  /** Its name in the config or of its folder, if that is no valid server name. */
  writtenAs?: string
}

/** The spec of a server over HTTP. */
export type HttpSpec = ServerSpec & { transport: Extract<ServerSpec['transport'], { kind: 'http' }> }

/** Returns a hash that is equal for specs that start or reach the same server in the same way. */
export function specHash(spec: ServerSpec): string {
  return createHash('sha256').update(toCanonicalJson(spec)).digest('hex')
}
