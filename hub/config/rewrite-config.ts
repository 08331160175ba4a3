import { readFileSync, statSync } from 'node:fs'
import { systemClock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import { writeWhole, writing } from './write-file.ts'

/** A file that was written, and the copy of what it was before. */
export interface Written {
  file: string
  backup?: string
}

/** Milliseconds for which an empty file may be one that an editor is about to fill. */
const FILLED_WITHIN_MS = 2_000

/** Says where a change was written, and where the file is as it was before. */
export function describeWritten({ file, backup }: Written): string {
  return `${file}${backup === undefined ? '' : `; it was before as in ${backup}`}`
}

/**
 * Returns the text of the config file that a change begins with; an empty one where there is no file. Throws
 * `conflict` where an editor is saving it.
 */
export function readForChange(configFile: string): string {
  const there = statSync(configFile, { throwIfNoEntry: false })
  if (!there) return ''
  const text = readFileSync(configFile, 'utf8')
  if (text === '' && Math.abs(systemClock.now() - there.mtimeMs) < FILLED_WITHIN_MS)
    throw toConflict(configFile)
  return text
}

/**
 * Writes the config file after a copy, in place, since sandboxes hide these two files; a new one is for its owner
 * alone. `before` is the text that the change began with. Returns its path and the copy's. Throws `conflict` where the
 * file holds another text by now, and `unavailable` with a remedy, and what to write `byHand`, where it cannot be
 * written.
 */
export function rewriteConfig(configFile: string, before: string, text: string, byHand?: string): Written {
  const backup = `${configFile}.bak`
  const there = statSync(configFile, { throwIfNoEntry: false })
  if (there) {
    const content = readFileSync(configFile)
    writing(backup, () => writeWhole(backup, content, { mode: there.mode, inPlace: true }), byHand)
  }
  if (readForChange(configFile) !== before) throw toConflict(configFile)
  writing(configFile, () => writeWhole(configFile, text, { mode: 0o600, inPlace: true }), byHand)
  return { file: configFile, ...(there ? { backup } : {}) }
}

function toConflict(file: string): HubError {
  return new HubError('conflict', `${file} is being changed by somebody else: try again in a moment`)
}
