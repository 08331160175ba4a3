import { installSabnzbd, startSabnzbd } from './setup/sabnzbd.ts'
import { sabnzbdSuite } from './setup/sabnzbd-suite.ts'

installSabnzbd()

/* SABnzbd 3.7 of Debian 12. */
sabnzbdSuite(newsPort => startSabnzbd({ newsPort }))
