import { execFileSync } from 'node:child_process'

/** The Debian packages that the tests of this folder use. */
const PACKAGES = [
  'bubblewrap',
  'busybox-static',
  'chromium',
  'docker-compose',
  'docker.io',
  'firefox-esr',
  'fonts-liberation',
  'g++',
  'ioquake3-server',
  'openssl',
  'openttd',
  'openttd-opengfx',
  'prometheus',
  'prometheus-alertmanager',
  'prometheus-node-exporter',
  'runc',
  'systemd',
  'teeworlds-server',
  'zbar-tools',
  // Packages that SABnzbd needs; the program itself is unpacked in sabnzbd.ts.
  'par2',
  'p7zip-full',
  'python3-chardet',
  'python3-cheetah',
  'python3-cherrypy3',
  'python3-configobj',
  'python3-cryptography',
  'python3-feedparser',
  'python3-guessit',
  'python3-portend',
  'python3-puremagic',
  'python3-rebulk',
  'python3-sabyenc',
  'python3-socks',
  'python3-ujson',
  'qbittorrent-nox',
  'transmission-daemon',
  'unrar-free',
  'unzip',
] as const
/** Packages that only the slow tests use. */
const FULL_PACKAGES = [
  'debootstrap',
  'dpkg-dev',
  'etcd-server',
  'golang-go',
  'iproute2',
  'podman',
  'rsync',
] as const

/** Installs missing packages. Throws, with the command to run, if that is not possible. */
export function installPackages({ full }: { full: boolean }): void {
  install(full ? [...PACKAGES, ...FULL_PACKAGES] : PACKAGES)
}

/** Installs those of the packages that are missing. Throws, with the command to run, if that is not possible. */
export function install(needed: readonly string[]): void {
  const missing = needed.filter(name => !isInstalled(name))
  if (missing.length === 0) return
  const command = `apt-get install -y --no-install-recommends ${missing.join(' ')}`
  if (process.getuid?.() !== 0) {
    throw new Error(
      `Missing Debian packages: ${missing.join(', ')}. Run as root: apt-get update && ${command}`,
    )
  }
  process.stdout.write(`Installing ${missing.join(', ')}\n`)
  aptGet(['update', '-qq'])
  aptGet(['install', '-y', '-qq', '--no-install-recommends', ...missing])
}

function isInstalled(name: string): boolean {
  try {
    const status = execFileSync('dpkg-query', ['-s', name], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return status.includes('\nStatus: install ok installed\n')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return false
    throw new Error(
      'These tests install Debian packages, and this machine has no dpkg. Run them on Debian 12.',
      {
        cause: error,
      },
    )
  }
}

/** Runs apt-get silently; if it fails, the error has its whole output. */
export function aptGet(args: string[], folder = '.'): void {
  try {
    execFileSync('apt-get', args, {
      cwd: folder,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
    })
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    throw new Error(`apt-get ${args[0]} failed:\n${stdout ?? ''}${stderr ?? ''}`, { cause: error })
  }
}
