import type { Client, ClientConfig } from 'pg'
import { describeError } from '../core/errors.ts'
import { StoreFault } from './writer.ts'

/** Name by which PostgreSQL lists the hub's connections. */
export const APPLICATION = 'superbloom'

const CONNECT_MS = 10_000
const KEEP_ALIVE_MS = 10_000
/** Scheme, user and password; hosts; database and settings. */
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?]*@)?)([^/?]*)(.*)$/

/** Returns an address without its user, password and settings. */
export function toShownAddress(url: string): string {
  const [, , hosts = '', rest = ''] = PARTS.exec(url) ?? []
  return `postgres://${hosts}${rest.replace(/\?.*/, '')}`
}

/** Returns how to connect to each host of an address, which names several as libpq does: `a:5432,b:5432`. */
export function toConfigs(url: string): (ClientConfig & { host: string })[] {
  const [, begin = '', hosts = '', rest = ''] = PARTS.exec(url) ?? []
  // `sslmode` means what it means to libpq, rather than what it means to pg.
  const end = `${rest}${rest.includes('?') ? '&' : '?'}uselibpqcompat=true`
  return hosts.split(',').map(host => ({
    host,
    connectionString: `${begin}${host}${end}`,
    application_name: APPLICATION,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  }))
}

/**
 * Connects to the first host that answers and can be written to. Throws a StoreFault that tells why none does; the
 * caller ends the client. `limits` are further settings of the client.
 */
export async function connectPrimary(
  url: string,
  limits: ClientConfig = {},
): Promise<{ client: Client; config: ClientConfig }> {
  const { default: pg } = await import('pg')
  const problems: string[] = []
  for (const { host, ...config } of toConfigs(url)) {
    const client = new pg.Client({ ...config, ...limits })
    try {
      await client.connect()
      const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
      if (!rows[0]?.standby) return { client, config }
      problems.push(`${host} is a standby`)
      await client.end()
    } catch (error) {
      problems.push(`${host}: ${describeError(error)}`)
    }
  }
  throw new StoreFault(
    'unreachable',
    `PostgreSQL at ${toShownAddress(url)} cannot be used (${problems.join('; ')}). Check SUPERBLOOM_STORE, and that the server runs and lets this user in.`,
  )
}
