import type { Command } from 'commander'
import { childEnvironment, createEnvironment } from '../../config/environment.ts'
import { locateStore } from '../../config/load.ts'
import { readHubId } from '../../config/token.ts'
import { systemClock } from '../../core/clock.ts'
import { createLog } from '../../core/log.ts'
import { plural } from '../../core/text.ts'
import { backUpStore, type KeptStore, restoreStore } from '../../store/store-backup.ts'
import type { StoreCopy } from '../../store/store-copy.ts'
import { print, printError } from '../print.ts'

export function define(command: Command): void {
  if (command.name() === 'backup')
    command.argument('[file]', 'default <data>/backups/superbloom-<time>.db').action(printBackup)
  else command.argument('<file>', 'what superbloom backup wrote').action(printRestored)
}

/** Copies the store, whether the hub runs or not, verifies the copy, and prints how to restore it. */
async function printBackup(file?: string): Promise<void> {
  const copy = await backUpStore(locate(), systemClock.now(), file)
  print(`${copy.file}: ${describeCopy(copy)}. Verified.`)
  print('Keep a copy on another machine: it holds every conversation. Beside it keep superbloom.yaml,')
  print('the agents folder and <data>/token, which are plain files.')
  print(`To go back to it: stop the hub, then superbloom restore ${copy.file}`)
}

/** Replaces the store by a backup; the old store is kept aside. */
async function printRestored(file: string): Promise<void> {
  const restored = await restoreStore(locate(), file, systemClock.now())
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

/** Returns the store, and the variables that libpq and its programs read. */
function locate(): KeptStore {
  const place = locateStore(createEnvironment())
  const log = createLog({ level: 'error', now: systemClock.now, write: line => printError(line) })
  return { ...place, environment: childEnvironment(['PG']), hub: () => readHubId(place.folder), log }
}

function describeCopy({ bytes, rows }: StoreCopy): string {
  const megabytes = (bytes / 1_000_000).toFixed(1)
  const { messages = 0, conversations = 0, history = 0 } = rows
  return `${megabytes} MB, ${plural(messages, 'message')} in ${plural(conversations, 'conversation')}, ${plural(history, 'row')} of history`
}
