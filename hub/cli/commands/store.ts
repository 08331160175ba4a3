import type { Command } from 'commander'
import { createEnvironment } from '../../config/environment.ts'
import { locateStore } from '../../config/load.ts'
import { systemClock } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import { plural } from '../../core/text.ts'
import { backUp, restore } from '../../store/backup.ts'
import type { StoreCopy } from '../../store/sqlite-backup.ts'
import { print } from '../print.ts'

export function define(command: Command): void {
  if (command.name() === 'backup')
    command.argument('[file]', 'default <data>/backups/superbloom-<time>.db').action(printBackup)
  else command.argument('<file>', 'what superbloom backup wrote').action(printRestored)
}

/** Copies the store, whether the hub runs or not, verifies the copy, and prints how to restore it. */
async function printBackup(file?: string): Promise<void> {
  const dataFolder = locateFile()
  const copy = await backUp(dataFolder, systemClock.now(), file)
  print(`${copy.file}: ${describeCopy(copy)}. Verified.`)
  print('Keep a copy on another machine: it holds every conversation. Beside it keep superbloom.yaml,')
  print('the agents folder and <data>/token, which are plain files.')
  print(`To go back to it: stop the hub, then superbloom restore ${copy.file}`)
}

/** Replaces the store by a backup; the old store is kept aside. */
async function printRestored(file: string): Promise<void> {
  const dataFolder = locateFile()
  const restored = await restore(dataFolder, file, systemClock.now())
  print(`Restored from ${restored.file}: ${describeCopy(restored)}. Verified.`)
  if (restored.before) {
    print(`What was there before is ${restored.before}`)
    print(
      restored.canBeUndone
        ? `To undo this: superbloom restore ${restored.before}`
        : 'That is no store that this version can read, so this cannot be undone.',
    )
  }
  print('Start the hub with: superbloom start')
}

/** Returns the folder of the store. Throws `conflict` where that is in PostgreSQL. */
function locateFile(): string {
  const { folder, url } = locateStore(createEnvironment())
  if (url === undefined) return folder
  throw new HubError(
    'conflict',
    'The store is in PostgreSQL (SUPERBLOOM_STORE): back it up with pg_dump, and restore it with pg_restore while no hub runs.',
  )
}

function describeCopy({ bytes, rows }: StoreCopy): string {
  const megabytes = (bytes / 1_000_000).toFixed(1)
  const { messages = 0, conversations = 0, history = 0 } = rows
  return `${megabytes} MB, ${plural(messages, 'message')} in ${plural(conversations, 'conversation')}, ${plural(history, 'row')} of history`
}
