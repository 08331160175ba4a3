import { copyFileSync, existsSync, writeFileSync } from 'node:fs'
import { writing } from './write-file.ts'

/** A file that was written, and the copy of what it was before. */
export interface Written {
  file: string
  backup?: string
}

/** Says where a change was written, and where the file is as it was before. */
export function describeWritten({ file, backup }: Written): string {
  return `${file}${backup === undefined ? '' : `; it was before as in ${backup}`}`
}

/**
 * Writes the config file after a copy, in place, to keep owner, mode and links; a new one is for its owner alone.
 * Returns its path and the copy's. Throws `unavailable` with a remedy, and what to write `byHand`, where it cannot be
 * written.
 */
export function rewriteConfig(configFile: string, text: string, byHand?: string): Written {
  const backup = `${configFile}.bak`
  const isThere = existsSync(configFile)
  if (isThere) writing(backup, () => copyFileSync(configFile, backup), byHand)
  writing(configFile, () => writeFileSync(configFile, text, { mode: 0o600 }), byHand)
  return { file: configFile, ...(isThere ? { backup } : {}) }
}
