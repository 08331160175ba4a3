import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { aptGet } from './packages.ts'
import { INSTALLED } from './scratch.ts'

const ROOT = join(INSTALLED, 'downloads-trixie')
const MIRROR = 'http://deb.debian.org/debian'
/** Packages that SABnzbd 4.5 needs. */
const PACKAGES = [
  '7zip',
  'apprise',
  'par2',
  'python3',
  'python3-chardet',
  'python3-cheetah',
  'python3-cheroot',
  'python3-cherrypy3',
  'python3-configobj',
  'python3-cryptography',
  'python3-feedparser',
  'python3-guessit',
  'python3-orjson',
  'python3-portend',
  'python3-puremagic',
  'python3-rebulk',
  'python3-sabctools',
  'python3-socks',
  'qbittorrent-nox',
  'unrar-free',
]
/** The first configuration of INN fails without a domain, so the script sets one. */
const INSTALL = `set -e
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends ${PACKAGES.join(' ')}
cd /tmp
apt-get download -qq sabnzbdplus
dpkg -x sabnzbdplus_*.deb /opt/sabnzbd
apt-get install -y -qq --no-install-recommends inn2 || true
sed -i -e 's/^#\\?domain:.*/domain: lab.example.org/' -e 's/^#\\?pathhost:.*/pathhost: news.lab.example.org/' \\
  -e 's/^#\\?fromhost:.*/fromhost: lab.example.org/' /etc/news/inn.conf
dpkg --configure -a`
/** Makes the folder visible as /lab, only to this program and its children. */
const ENTER = `root=$1
mkdir -p "$root/lab"
mount --bind "$2" "$root/lab"
mount -t proc proc "$root/proc"
shift 2
exec chroot "$root" "$@"`

/**
 * Installs a Debian 13 in a folder, with newer programs than Debian 12's; made at the first use, in a minute
 * or two. Needs root.
 */
export async function installTrixie(): Promise<void> {
  if (existsSync(ROOT)) return
  if (!existsSync('/usr/sbin/debootstrap')) {
    aptGet(['update', '-qq'])
    aptGet(['install', '-y', '-qq', '--no-install-recommends', 'debootstrap'])
  }
  const made = `${ROOT}.new`
  rmSync(made, { recursive: true, force: true })
  mkdirSync(INSTALLED, { recursive: true })
  await run('debootstrap', ['--variant=minbase', 'trixie', made, MIRROR])
  writeFileSync(join(made, 'etc/apt/sources.list'), `deb ${MIRROR} trixie main contrib\n`)
  writeFileSync(join(made, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  await run('chroot', [made, 'sh', '-c', INSTALL])
  renameSync(made, ROOT)
}

/**
 * Returns how to start one of its programs, once installed: options for `startSabnzbd` and
 * `startQbittorrent`.
 */
export function inTrixie(command: string, before: string[] = []) {
  return {
    program: (args: string[], folder: string) => ({
      command: 'unshare',
      args: ['-m', 'sh', '-ec', ENTER, '_', ROOT, folder, command, ...before, ...args],
    }),
    inside: () => '/lab',
  }
}

/** Runs a command with /tmp, because this machine's scratch folder may not exist inside. */
const run = (command: string, args: string[]) =>
  promisify(execFile)(command, args, { env: { ...process.env, TMPDIR: '/tmp' }, maxBuffer: 2 ** 26 })
