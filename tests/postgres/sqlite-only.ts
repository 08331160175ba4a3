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
    file: 'hub/store/migrations/migrations.test.ts',
    why: 'earlier versions had no other store, and the fixtures are files',
  },
]
