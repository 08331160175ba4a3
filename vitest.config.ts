import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/**
 * Tests of real programs that leave the machine as it is, so that two of them run at a time. `page-setup` looks for
 * programs at their usual ports.
 */
const SIDE_BY_SIDE = [
  'tests/{contract,crash}/**/*.test.ts',
  'tests/real/{page-!(setup),clients,npm-servers,terminal-chat}.test.ts',
]

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
          include: SIDE_BY_SIDE,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'real-machine',
          // What `--exclude` leaves out of a run would come back here with an `exclude` of this project.
          include: [
            'tests/real/{page-setup,!(page-*|clients|npm-servers|terminal-chat)}.test.ts',
            'tests/real/{clients,npm-servers}.full.test.ts',
          ],
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
