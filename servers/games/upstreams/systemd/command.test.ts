import { expect, test } from 'vitest'
import { createCommand } from './command.ts'

const env = { PATH: '/usr/bin:/bin' }

test('a program that hangs is ended, and the failure says so', async () => {
  const run = createCommand(200)
  await expect(run('sleep', ['1000'], { env })).rejects.toMatchObject({ name: 'TimeoutError' })
})

test('an exit code is an answer, a program that is not there is none', async () => {
  const run = createCommand(10_000)
  expect(await run('sh', ['-c', 'echo out; echo err >&2; exit 5'], { env })).toEqual({
    code: 5,
    stdout: 'out\n',
    stderr: 'err\n',
  })
  await expect(run('no-such-program', [], { env })).rejects.toMatchObject({ code: 'ENOENT' })
})
