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
  /** Of the server: what was given for another address is sent to none. */
  url: z.string(),
  /** What the hub is to the authorization server `issuer`: registered there, or bound to it by the first login. */
  client,
  /** Where that client said that people come back to; undefined for a client of the config. */
  redirectUrl: z.string().optional(),
  /** What the tokens are for, as the server's metadata has it. */
  resource: z.string().optional(),
  /** Undefined once the authorization server has refused to renew them. */
  tokens: tokens.optional(),
  /** When to ask for new ones, unix milliseconds; undefined where nothing was said of how long they hold. */
  renewAt: z.number().optional(),
})

/** What a server's login left behind, all of it secret. */
export type Credentials = z.infer<typeof credentials>

/** Keeps the logins of servers below the data folder, a file each, which only its owner can read. */
export interface CredentialStore {
  /** Undefined for none, and for those of a server at another address. */
  read(server: string, url: string): Credentials | undefined
  /** On the disk when this returns, whole or not at all. Throws what the disk says. */
  save(server: string, kept: Credentials): void
  /** True where there was something to forget. */
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
      // One that a crash left may have another mode.
      rmSync(draft, { force: true })
      // A refresh token that was used once is no good any more: the next one must not be lost.
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

/** Through a power cut a file keeps its new name once its folder is on the disk. Windows has no such call. */
function flushFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
