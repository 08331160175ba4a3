import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { describeError, HubError } from '../core/errors.ts'

/** Codes of a file that cannot be replaced: it is mounted by itself, its folder is closed, or its owner is another. */
const NOT_REPLACEABLE = ['EBUSY', 'EACCES', 'EPERM']
const DISK_FULL = ['ENOSPC', 'EDQUOT']

/**
 * Runs `write` on a path. Throws `unavailable` where the path cannot be written, with a remedy, or what to do
 * `byHand`.
 */
export function writing(path: string, write: () => void, byHand?: string): void {
  try {
    write()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    const how = DISK_FULL.includes(String(error.code))
      ? 'the disk is full: make room. The file is as it was'
      : 'make it writable for the user that the hub runs as, and run commands as that user'
    const instead = byHand === undefined ? '' : `. Or do it by hand: ${byHand}`
    const message = `${path} cannot be written (${describeError(error)}): ${how}${instead}`
    throw new HubError('unavailable', message, { cause: error })
  }
}

interface WriteOptions {
  /** Mode of a new file; one that is there keeps its own. */
  mode: number
  /**
   * True to keep the file itself and change what it holds: a sandbox hides the file that was there when its server
   * started, and not one that takes its place.
   */
  inPlace?: boolean
}

/**
 * Writes a file so that it holds the old content or the new one, also where the process is killed or the disk is
 * full. It keeps owner, mode and links. A file that cannot be replaced is written in place, where who reads at that
 * instant may see parts of both.
 */
export function writeWhole(file: string, content: string | Buffer, { mode, inPlace }: WriteOptions): void {
  const there = statSync(file, { throwIfNoEntry: false })
  const target = there ? realpathSync(file) : file
  if (there && (inPlace === true || there.nlink > 1)) {
    overwrite(target, Buffer.from(content))
    return
  }
  try {
    replace(target, content, there ?? { mode })
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!there || !NOT_REPLACEABLE.includes(code)) throw error
    overwrite(target, Buffer.from(content))
  }
}

function replace(
  file: string,
  content: string | Buffer,
  { mode, uid, gid }: Pick<Stats, 'mode'> & Partial<Stats>,
): void {
  const draft = `${file}.${process.pid}.tmp`
  try {
    rmSync(draft, { force: true })
    const opened = openSync(draft, 'wx', mode & 0o777)
    try {
      const own = fstatSync(opened)
      if (uid !== undefined && gid !== undefined && (own.uid !== uid || own.gid !== gid))
        fchownSync(opened, uid, gid)
      if (uid !== undefined) fchmodSync(opened, mode & 0o7777)
      writeFileSync(opened, content)
      fsyncSync(opened)
    } finally {
      closeSync(opened)
    }
    renameSync(draft, file)
  } finally {
    rmSync(draft, { force: true })
  }
}

function overwrite(file: string, content: Buffer): void {
  const opened = openSync(file, 'r+')
  try {
    const before = readFileSync(opened)
    try {
      fill(opened, content, before.length)
    } catch (error) {
      fill(opened, before)
      throw error
    }
  } finally {
    closeSync(opened)
  }
}

/** Writes content over what is there, in one write that ends in blank lines up to the old length, and only then cuts. */
function fill(opened: number, content: Buffer, least = 0): void {
  const whole = Buffer.concat([content, Buffer.alloc(Math.max(0, least - content.length), '\n')])
  for (let at = 0; at < whole.length; ) at += writeSync(opened, whole, at, whole.length - at, at)
  ftruncateSync(opened, content.length)
  fsyncSync(opened)
}
