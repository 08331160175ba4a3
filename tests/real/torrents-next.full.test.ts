import { startQbittorrent } from './setup/qbittorrent.ts'
import { torrentsSuite } from './setup/torrents-suite.ts'
import { installTrixie, inTrixie } from './setup/trixie.ts'

await installTrixie()

/* qBittorrent 5.1 of Debian 13, which has other words for pause and resume. */
torrentsSuite((options = {}) => startQbittorrent({ ...options, ...inTrixie('qbittorrent-nox') }))
