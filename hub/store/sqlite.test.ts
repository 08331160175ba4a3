import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { makeTempFolder } from '../../tests/support/temp-store.ts'
import { within } from '../../tests/support/until.ts'
import { lockFolder } from './sqlite.ts'

const module = new URL('./sqlite.ts', import.meta.url).href

/** Starts a process of its own that takes the lock of a folder, and holds it until it is killed. */
function lockElsewhere(folder: string) {
  const program = `const { lockFolder } = await import(${JSON.stringify(module)})
    process.stdout.write('asks ')
    globalThis.lock = lockFolder(${JSON.stringify(folder)}, 20_000)
    process.stdout.write('holds ')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  const listeners = new Set<() => void>()
  child.stdout.on('data', data => {
    said += data
    for (const look of listeners) look()
  })
  const exited = once(child, 'exit')
  return {
    says: (word: string) =>
      within(
        `the other process ${word}`,
        new Promise<void>(resolve => {
          const look = () => said.includes(word) && resolve()
          listeners.add(look)
          look()
        }),
      ),
    get said() {
      return said
    },
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

test('a folder has one hub: a second process is refused, and kill -9 of the first frees it', async () => {
  using folder = makeTempFolder()
  const other = lockElsewhere(folder.path)
  try {
    await other.says('holds')
    expect(() => lockFolder(folder.path, 50)).toThrow(
      expect.objectContaining({
        code: 'conflict',
        message: expect.stringContaining(`data folder ${folder.path}`),
      }),
    )
  } finally {
    await other.kill()
  }
  lockFolder(folder.path, 0)[Symbol.dispose]()
})

test('the next hub waits for one that is ending', async () => {
  using folder = makeTempFolder()
  const ending = lockFolder(folder.path, 0)
  const next = lockElsewhere(folder.path)
  try {
    await next.says('asks')
    expect(next.said).not.toContain('holds')
    ending[Symbol.dispose]()
    await next.says('holds')
  } finally {
    await next.kill()
  }
})

test('within one process the lock is exclusive too, and given back when disposed', () => {
  using folder = makeTempFolder()
  const first = lockFolder(folder.path, 0)
  expect(() => lockFolder(folder.path, 0)).toThrow(expect.objectContaining({ code: 'conflict' }))
  first[Symbol.dispose]()
  lockFolder(folder.path, 0)[Symbol.dispose]()
})

test('what is wrong otherwise is not called a conflict', () => {
  expect(() => lockFolder('/nowhere/at/all', 0)).toThrow(expect.not.objectContaining({ code: 'conflict' }))
})
