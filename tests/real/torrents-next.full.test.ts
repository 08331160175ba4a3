import { startQbittorrent } from './setup/qbittorrent.ts'
import { torrentsSuite } from './setup/torrents-suite.ts'
import { inTrixie } from './setup/trixie.ts'

/* qBittorrent 5.1 of Debian 13, which has other words for pause and resume. */
torrentsSuite((options = {}) => startQbittorrent({ ...options, ...inTrixie('qbittorrent-nox') }))
