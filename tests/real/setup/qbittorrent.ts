import { pbkdf2Sync, randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RealProgram, startReal } from './scratch.ts'

export const QBITTORRENT_USER = { username: 'admin', password: 'adminadmin' }

export interface QbittorrentOptions {
  /** Returns how to start the program; default: Debian 12's. */
  program?: (args: string[], folder: string) => { command: string; args: string[] }
  /** Converts the folder to the path that the program sees, if it differs. */
  inside?: (folder: string) => string
  queueing?: boolean
  /** The download folder; default: `downloads` in its folder. */
  downloads?: string
}

/** Starts qBittorrent without access beyond this machine; it downloads to `downloads` in its folder. */
export function startQbittorrent(options: QbittorrentOptions = {}): Promise<RealProgram> {
  const { program = toDebian, inside = folder => folder, queueing = true } = options
  return startReal({
    name: 'qbittorrent',
    prepare({ folder, port }) {
      const config = join(folder, 'qBittorrent/config')
      mkdirSync(config, { recursive: true })
      mkdirSync(join(folder, 'downloads'))
      writeFileSync(
        join(config, 'qBittorrent.conf'),
        toConfig(port, options.downloads ?? join(inside(folder), 'downloads'), queueing),
      )
      return program([`--profile=${inside(folder)}`], folder)
    },
    isReady: async url => [200, 403].includes((await fetch(`${url}/api/v2/app/version`)).status),
  })
}

const toDebian = (args: string[]) => ({ command: 'qbittorrent-nox', args })

function toConfig(port: number, downloads: string, queueing: boolean): string {
  const { username, password } = QBITTORRENT_USER
  const salt = randomBytes(16)
  const key = pbkdf2Sync(password, salt, 100_000, 64, 'sha512')
  return `[LegalNotice]
Accepted=true

[BitTorrent]
Session\\DHTEnabled=false
Session\\LSDEnabled=false
Session\\PeXEnabled=false
Session\\Interface=lo
Session\\InterfaceName=lo
Session\\Port=0
Session\\QueueingSystemEnabled=${queueing}
Session\\DefaultSavePath=${downloads}

[Preferences]
WebUI\\Address=127.0.0.1
WebUI\\Port=${port}
WebUI\\Username=${username}
WebUI\\LocalHostAuth=true
WebUI\\Password_PBKDF2="@ByteArray(${salt.toString('base64')}:${key.toString('base64')})"
`
}
