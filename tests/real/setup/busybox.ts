import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/** What the test images hold, each a link to busybox. */
const APPLETS = ['sh', 'sleep', 'echo', 'cat', 'httpd', 'env', 'kill', 'head', 'tail', 'nc', 'date', 'yes']

/** The name of the image that the test engines have. */
export const IMAGE = 'lab/busybox:latest'

/** A tar archive of a root file system with nothing but busybox in it, made in `folder`. */
export function makeBusyboxArchive(folder: string): string {
  const root = join(folder, 'busybox')
  for (const name of ['bin', 'tmp']) mkdirSync(join(root, name), { recursive: true })
  copyFileSync('/bin/busybox', join(root, 'bin/busybox'))
  for (const applet of APPLETS) symlinkSync('busybox', join(root, 'bin', applet))
  const archive = join(folder, 'busybox.tar')
  execFileSync('tar', ['-C', root, '-cf', archive, '.'])
  return archive
}
