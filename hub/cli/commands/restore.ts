import type { Command } from 'commander'
import { createEnvironment } from '../../config/environment.ts'
import { locateData } from '../../config/load.ts'
import { systemClock } from '../../core/clock.ts'
import { restore as restoreStore } from '../../store/backup.ts'
import { print } from '../print.ts'
import { describeCopy } from './backup.ts'

export function define(command: Command): void {
  command.argument('<file>', 'what superbloom backup wrote').action(restore)
}

/** Replaces the store by a backup; the old store is kept aside. */
async function restore(file: string): Promise<void> {
  const { dataFolder } = locateData(createEnvironment())
  const restored = await restoreStore(dataFolder, file, systemClock.now())
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
