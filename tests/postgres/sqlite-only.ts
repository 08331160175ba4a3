/** Tests that apply only to SQLite, all of a file unless it is told which, and why. */
export const SQLITE_ONLY: readonly { file: string; tests?: readonly string[]; why: string }[] = [
  { file: 'hub/store/backup.test.ts', why: 'its backups are copies of the file' },
  { file: 'hub/store/login-files.test.ts', why: 'it is about backups, which are copies of the file' },
  { file: 'hub/store/open.test.ts', why: 'it is about the file' },
  { file: 'hub/store/sqlite.test.ts', why: 'it is about the lock of the data folder' },
  { file: 'hub/store/sqlite-faults.test.ts', why: 'these are the faults of SQLite and of its file' },
  { file: 'hub/store/sqlite-writer.test.ts', why: 'it reads the statements that SQLite gets' },
  { file: 'hub/store/store-loss.test.ts', why: 'a file can go away, and a mark beside it tells' },
  {
    file: 'hub/runtime/runtime.test.ts',
    tests: ['promise 1: what is posted while a wake finds nothing is not overlooked'],
    why: 'it waits for a claim within one round of I/O, and a server answers in a later one',
  },
  {
    file: 'hub/store/migrations/migrations.test.ts',
    why: 'earlier versions had no other store, and the fixtures are files',
  },
  {
    file: 'tests/e2e/keeping.test.ts',
    tests: ['hub_status counts what the store takes with its log'],
    why: 'the sizes are of files',
  },
  {
    file: 'tests/e2e/oauth-tokens.test.ts',
    tests: ['behind a proxy with https: the hub keeps no secret, and knows its clients after a restart'],
    why: 'it looks for secrets in the file',
  },
  { file: 'tests/e2e/nul.test.ts', why: 'PostgreSQL stores no NUL' },
  { file: 'tests/e2e/store-faults.test.ts', why: 'these are the faults of SQLite and of its file' },
]
