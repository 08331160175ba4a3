import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [
            '{hub,servers,schemas,bin}/**/*.test.ts',
            'tests/*.test.ts',
            'tests/{e2e,regression}/**/*.test.ts',
          ],
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
        test: { name: 'real', include: ['tests/{contract,real}/**/*.test.ts'], fileParallelism: false },
      },
    ],
    // Most tests wait for processes and clocks rather than for a processor, and one worker is what 2 cores would get.
    maxWorkers: Math.max(3, availableParallelism()),
    testTimeout: 30_000,
    hookTimeout: 30_000,
    coverage: {
      provider: 'v8',
      include: ['hub/**/*.ts', 'servers/**/*.ts', 'schemas/**/*.ts'],
      exclude: ['**/*.test.ts', 'hub/main.ts'],
      thresholds: { lines: 80, functions: 80, branches: 70, statements: 80 },
    },
  },
})
