import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { builtIns } from '../../hub/config/built-ins.ts'

const root = join(import.meta.dirname, '..', '..')

/** Docker's plugin if it exists, else Debian's older program of the same name. */
const compose =
  spawnSync('docker', ['compose', 'version']).status === 0 ? ['docker', 'compose'] : ['docker-compose']

test(`${compose.join(' ')} config takes docker-compose.yml`, () => {
  const [command = '', ...args] = compose
  const text = execFileSync(command, [...args, 'config'], { cwd: root, encoding: 'utf8' })
  const { services } = parse(text) as { services: Record<string, { pid?: string; command?: string[] }> }
  expect(Object.keys(services).sort()).toEqual(['hub', 'tokens', ...builtIns.map(({ name }) => name)].sort())
  expect(services['metrics']).toMatchObject({
    pid: 'host',
    command: expect.arrayContaining(['serve', 'metrics']),
  })
})
