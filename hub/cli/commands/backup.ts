import { createEnvironment } from '../../config/environment.ts'
import { locateData } from '../../config/load.ts'
import { systemClock } from '../../core/clock.ts'
import { plural } from '../../core/text.ts'
import { backUp, restore as restoreStore } from '../../store/backup.ts'
import type { StoreCopy } from '../../store/sqlite-backup.ts'
import { print } from '../print.ts'

/** Copies the store, whether the hub runs or not, verifies the copy, and prints how to restore it. */
export async function backup(file?: string): Promise<void> {
  const { dataFolder } = locateData(createEnvironment())
  const copy = await backUp(dataFolder, systemClock.now(), file)
  print(`${copy.file}: ${describe(copy)}. Verified.`)
  print('Keep a copy on another machine: it holds every conversation. Beside it keep superbloom.yaml,')
  print('the agents folder and <data>/token, which are plain files.')
  print(`To go back to it: stop the hub, then superbloom restore ${copy.file}`)
}

/** Replaces the store by a backup; the old store is kept aside. */
export async function restore(file: string): Promise<void> {
  const { dataFolder } = locateData(createEnvironment())
  const restored = await restoreStore(dataFolder, file, systemClock.now())
  print(`Restored from ${restored.file}: ${describe(restored)}. Verified.`)
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

function describe({ bytes, rows }: StoreCopy): string {
  const megabytes = (bytes / 1_000_000).toFixed(1)
  const { messages = 0, conversations = 0, history = 0 } = rows
  return `${megabytes} MB, ${plural(messages, 'message')} in ${plural(conversations, 'conversation')}, ${plural(history, 'row')} of history`
}
