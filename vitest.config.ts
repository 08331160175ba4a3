import { readdirSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const realTests = readdirSync(join(import.meta.dirname, 'tests/real'))
  .filter(name => name.endsWith('.test.ts'))
  .map(name => `tests/real/${name}`)
/**
 * Tells whether a test of real programs leaves the machine as it is, so that two of them run at a time. `page-setup`
 * looks for programs at their usual ports.
 */
const isSideBySide = (path: string) =>
  /\/(?:page-(?!setup)|(?:clients|npm-servers|terminal-chat)\.test)/.test(path)

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          // What the files of a worker import is loaded once: no module keeps anything between them.
          isolate: false,
          include: [
            '{hub,servers,schemas,bin}/**/*.test.ts',
            'tests/*.test.ts',
            'tests/{e2e,regression,support}/**/*.test.ts',
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          isolate: false,
          include: ['hub/{store,runtime}/**/*.test.ts', 'tests/{e2e,postgres}/**/*.test.ts'],
          setupFiles: ['tests/postgres/skip-others.ts', 'tests/postgres/record-statements.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'package',
          include: ['tests/package/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 300_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'real',
          include: ['tests/{contract,crash}/**/*.test.ts', ...realTests.filter(isSideBySide)],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'real-machine',
          // An `exclude` here would undo that of the command line.
          include: realTests.filter(path => !isSideBySide(path)),
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
    // Most tests wait for processes and clocks rather than for a processor, and one worker is what 2 cores would get.
    maxWorkers: Math.max(4, availableParallelism()),
    // Programs that the tests start strip and compile what they load once, not at every start.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') },
    // Ten times what the longest tests take, so that a busy machine fails none of them.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    coverage: {
      provider: 'v8',
      include: ['hub/**/*.ts', 'servers/**/*.ts', 'schemas/**/*.ts'],
      exclude: ['**/*.test.ts', 'hub/main.ts', 'hub/web/**'],
      thresholds: { lines: 80, functions: 80, branches: 70, statements: 80 },
    },
  },
})
