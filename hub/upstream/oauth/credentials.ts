import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { parseJson } from '../../core/json.ts'

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

/** Keeps the logins of servers below the data folder, one file each, which only its owner can read. */
export interface CredentialStore {
  /** Returns a server's credentials; undefined for none, and for those of a server at another URL. */
  read(server: string, url: string): Credentials | undefined
  /** Saves on the disk before it returns, whole or not at all. Throws the disk's error. */
  save(server: string, kept: Credentials): void
  /** Deletes a server's credentials; returns true if there were some. */
  forget(server: string): boolean
}

export function createCredentialStore(dataFolder: string): CredentialStore {
  const folder = join(dataFolder, 'oauth')
  const fileOf = (server: string) => join(folder, `${server}.json`)
  return {
    read(server, url) {
      const file = fileOf(server)
      const found = existsSync(file)
        ? credentials.safeParse(parseJson(readFileSync(file, 'utf8')))
        : undefined
      return found?.success && found.data.url === url ? found.data : undefined
    },
    save(server, kept) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const draft = `${fileOf(server)}.new`
      // A draft that a crash left may have another mode.
      rmSync(draft, { force: true })
      // A refresh token is good only once, so the next one must not be lost.
      writeFileSync(draft, `${JSON.stringify(kept, undefined, 2)}\n`, { mode: 0o600, flush: true })
      renameSync(draft, fileOf(server))
      flushFolder(folder)
    },
    forget(server) {
      const file = fileOf(server)
      const isThere = existsSync(file)
      rmSync(file, { force: true })
      rmSync(`${file}.new`, { force: true })
      return isThere
    },
  }
}

/** Flushes a folder, after which a file keeps its new name through a power cut. Windows has no such call. */
function flushFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
