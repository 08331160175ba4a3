import { existsSync } from 'node:fs'
import { Argument, type Command } from 'commander'
import { openDataFolder } from '../../config/data-folder.ts'
import { createEnvironment } from '../../config/environment.ts'
import { locateStore } from '../../config/load.ts'
import { readHubId } from '../../config/token.ts'
import { systemClock } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import { createLog } from '../../core/log.ts'
import { plural } from '../../core/text.ts'
import { copyStore } from '../../store/copy-store.ts'
import { describePlace, openPostgres, openStore } from '../../store/open.ts'
import type { LeadOptions } from '../../store/postgres-lease.ts'
import { lockFolder } from '../../store/sqlite.ts'
import { databaseFile } from '../../store/sqlite-backup.ts'
import { print, printError } from '../print.ts'

const DIRECTIONS = ['sqlite-to-postgres', 'postgres-to-sqlite'] as const
type Direction = (typeof DIRECTIONS)[number]

export function define(command: Command): void {
  command
    .addArgument(new Argument('<direction>', 'where from and where to').choices(DIRECTIONS))
    .addHelpText(
      'after',
      '\nThe database is the one that SUPERBLOOM_STORE names; the other side is the data folder.',
    )
    .action((direction: Direction) => migrate(direction))
}

/** Copies the store while no hub runs, and prints each table. A copy that was cut goes on where it was. */
async function migrate(direction: Direction): Promise<void> {
  const { folder, url } = locateStore(createEnvironment())
  if (url === undefined)
    throw new HubError(
      'bad_request',
      'Say where PostgreSQL is: SUPERBLOOM_STORE=postgres://user:password@host:5432/database',
    )
  const isUp = direction === 'sqlite-to-postgres'
  if (isUp && !existsSync(databaseFile(folder)))
    throw new HubError(
      'not_found',
      `There is no store ${databaseFile(folder)}. Name its folder with SUPERBLOOM_DATA.`,
    )
  openDataFolder(folder)
  using _lock = lockFolder(folder, 0, 'Stop it first.')
  await using postgres = await openPostgres(url, leadOf(folder))
  await using sqlite = await openStore(folder)
  const [from, to, place] = isUp
    ? [sqlite, postgres, describePlace({ folder, url })]
    : [postgres, sqlite, describePlace({ folder })]
  let total = 0
  await copyStore(from, to, {
    place,
    onTable: ({ table, rows, wasThere }) => {
      total += rows
      if (rows > 0)
        print(
          `${table}: ${plural(rows, 'row')}, ${wasThere ? 'copied before, and the same' : 'copied and compared'}`,
        )
    },
  })
  print(`All is in ${place}: ${plural(total, 'row')}. The old store is marked as moved and stays as it is.`)
  print(
    isUp
      ? 'Start the hub with the same SUPERBLOOM_STORE, and delete the old superbloom.db once you trust the new store.'
      : 'Start the hub without SUPERBLOOM_STORE.',
  )
}

/** Leads on the database while it is copied; a hub that runs there is not waited for. */
function leadOf(folder: string): LeadOptions {
  return {
    id: readHubId(folder),
    url: () => 'superbloom migrate',
    files: () => '',
    acceptFiles: true,
    clock: systemClock,
    log: createLog({ level: 'warn', now: systemClock.now, write: printError }),
    onStandby: ({ url }) =>
      Promise.reject(new HubError('conflict', `A hub runs on this database (${url}). Stop it first.`)),
    onTaken: () => undefined,
    signal: new AbortController().signal,
  }
}
