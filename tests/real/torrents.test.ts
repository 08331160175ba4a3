import { startQbittorrent } from './setup/qbittorrent.ts'
import { torrentsSuite } from './setup/torrents-suite.ts'

/* qBittorrent 4.5 and Transmission 3.00 of Debian 12. */
torrentsSuite(startQbittorrent)
