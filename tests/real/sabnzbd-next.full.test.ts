import { startSabnzbd } from './setup/sabnzbd.ts'
import { sabnzbdSuite } from './setup/sabnzbd-suite.ts'
import { installTrixie, inTrixie } from './setup/trixie.ts'

await installTrixie()

/* SABnzbd 4.5 of Debian 13. */
sabnzbdSuite(newsPort =>
  startSabnzbd({
    newsPort,
    ...inTrixie('env', [
      'PYTHONPATH=/opt/sabnzbd/usr/share/sabnzbdplus',
      'python3',
      '-OO',
      '/opt/sabnzbd/usr/bin/sabnzbdplus',
    ]),
  }),
)
