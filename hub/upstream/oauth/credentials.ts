import { z } from 'zod'
import type { Clock } from '../../core/clock.ts'
import { parseJson } from '../../core/json.ts'
import type { Log } from '../../core/log.ts'
import { removeLoginFiles, takeLoginFiles } from '../../store/login-files.ts'
import type { Store } from '../../store/open.ts'
import { deleteServerLogin, readServerLogins, saveServerLogin } from '../../store/server-logins.ts'

const client = z.looseObject({
  client_id: z.string(),
  client_secret: z.string().optional(),
  issuer: z.string(),
})

const tokens = z.looseObject({
  access_token: z.string(),
  token_type: z.string(),
  refresh_token: z.string().optional(),
  scope: z.string().optional(),
  issuer: z.string(),
})

const credentials = z.object({
  /** The server's URL; what was given for another URL is never sent. */
  url: z.string(),
  /** The hub's client at the authorization server `issuer`: registered, or bound by the first login. */
  client,
  /** The redirect URL of that client; undefined for a client of the config. */
  redirectUrl: z.string().optional(),
  /** The resource that the tokens are for, as in the server's metadata. */
  resource: z.string().optional(),
  /** The tokens; undefined once the authorization server has refused to renew them. */
  tokens: tokens.optional(),
  /** Unix milliseconds at which the tokens are renewed; undefined if nobody said how long they hold. */
  renewAt: z.number().optional(),
})

/** The result of a server's login, all of it secret. */
export type Credentials = z.infer<typeof credentials>

/** Keeps the logins at servers. */
export interface CredentialStore {
  /** Returns a server's credentials; undefined for none, and for those of a server at another URL. */
  read(server: string, url: string): Credentials | undefined
  /** Resolves once they are on the disk. Rejects with the store's error; they are kept in memory then. */
  save(server: string, kept: Credentials): Promise<void>
  /** Deletes a server's credentials, at once for who reads; resolves with true if there were some. */
  forget(server: string): Promise<boolean>
}

export interface CredentialStoreDeps {
  store: Pick<Store, 'db' | 'writeSecret'>
  clock: Clock
  log: Log
  /** The folder that has the logins of an earlier version. */
  dataFolder: string
}

/** Opens the logins at servers: nobody else writes them while this hub runs. */
export async function openCredentialStore({
  store,
  clock,
  log,
  dataFolder,
}: CredentialStoreDeps): Promise<CredentialStore> {
  const { db, writeSecret } = store
  await takeLoginFiles(store, dataFolder, { now: clock.now, log })
  const known = new Map<string, Credentials>()
  for (const { server, login_json } of await readServerLogins(db)) {
    const { data } = credentials.safeParse(parseJson(login_json))
    if (data) known.set(server, data)
  }
  return {
    read(server, url) {
      const found = known.get(server)
      return found?.url === url ? found : undefined
    },
    save(server, kept) {
      known.set(server, kept)
      const row = { server, login_json: JSON.stringify(kept), saved_at: clock.now() }
      return writeSecret(tx => saveServerLogin(tx, row))
    },
    async forget(server) {
      const wasThere = known.delete(server)
      await writeSecret(tx => deleteServerLogin(tx, server))
      removeLoginFiles(dataFolder, server)
      return wasThere
    },
  }
}
