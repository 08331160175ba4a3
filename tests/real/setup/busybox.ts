import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Commands of the test images, each a link to busybox. */
const APPLETS = ['sh', 'sleep', 'echo', 'cat', 'httpd', 'env', 'kill', 'head', 'tail', 'nc', 'date', 'yes']

/** The image's name in the test engines. */
export const IMAGE = 'lab/busybox:latest'

/** Makes a tar archive in `folder` of a root file system with only busybox. */
export function makeBusyboxArchive(folder: string): string {
  const root = join(folder, 'busybox')
  for (const name of ['bin', 'tmp']) mkdirSync(join(root, name), { recursive: true })
  copyFileSync('/bin/busybox', join(root, 'bin/busybox'))
  for (const applet of APPLETS) symlinkSync('busybox', join(root, 'bin', applet))
  const archive = join(folder, 'busybox.tar')
  execFileSync('tar', ['-C', root, '-cf', archive, '.'])
  return archive
}
