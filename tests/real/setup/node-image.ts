import { execFile } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Daemon } from './dockerd.ts'
import { INSTALLED } from './scratch.ts'

const ARCHIVE = join(INSTALLED, `node-image-${process.version}.tar`)
const MIRROR = 'http://deb.debian.org/debian'
const CERTIFICATES = '/etc/ssl/of-the-machine.crt'

/**
 * Adds an image `node:24-slim` to a Docker, like the official one: Debian 12, the Node.js that runs this with
 * npm, and a user `node` with the id 1000. It is made at the first use, in half a minute, and kept. Needs
 * root.
 */
export async function addNodeImage({ docker }: Daemon): Promise<void> {
  if (!existsSync(ARCHIVE)) await makeArchive()
  const settings = [
    'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    'CMD ["node"]',
    // A proxy in front of the registry may have its own certificate authority.
    ...(process.env['NODE_EXTRA_CA_CERTS'] ? [`ENV NODE_EXTRA_CA_CERTS=${CERTIFICATES}`] : []),
  ]
  await docker('import', ...settings.flatMap(setting => ['--change', setting]), ARCHIVE, 'node:24-slim')
}

async function makeArchive(): Promise<void> {
  const root = `${ARCHIVE}.root`
  rmSync(root, { recursive: true, force: true })
  mkdirSync(INSTALLED, { recursive: true })
  await run('debootstrap', ['--variant=minbase', 'bookworm', root, MIRROR])
  const local = join(root, 'usr/local')
  copyFileSync(process.execPath, join(local, 'bin/node'))
  const { stdout: program } = await run('sh', ['-c', 'realpath "$(command -v npm)"'])
  cpSync(dirname(dirname(program.trim())), join(local, 'lib/node_modules/npm'), { recursive: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'))
  const certificates = process.env['NODE_EXTRA_CA_CERTS']
  mkdirSync(join(root, 'etc/ssl'), { recursive: true })
  if (certificates) copyFileSync(certificates, join(root, CERTIFICATES))
  await run('chroot', [root, 'useradd', '--uid=1000', '--create-home', '--shell=/bin/bash', 'node'])
  rmSync(join(root, 'var/cache/apt/archives'), { recursive: true })
  await run('tar', ['-C', root, '-cf', `${ARCHIVE}.new`, '.'])
  renameSync(`${ARCHIVE}.new`, ARCHIVE)
  rmSync(root, { recursive: true, force: true })
}

/** Runs a command with /tmp, because this machine's scratch folder may not exist inside. */
const run = (command: string, args: string[]) =>
  promisify(execFile)(command, args, { env: { ...process.env, TMPDIR: '/tmp' }, maxBuffer: 2 ** 26 })
