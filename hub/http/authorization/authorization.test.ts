import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** Prints the modules of packages for OAuth that importing a file loads. */
const PROGRAM = `
  import { registerHooks } from 'node:module'
  const loaded = []
  registerHooks({ load(url, context, next) {
    if (/node_modules\\/(oidc-provider|koa|jose)\\//.test(url)) loaded.push(url)
    return next(url, context)
  } })
  await import(process.argv[1])
  console.log(loaded.length)`

function countLoaded(file: string): number {
  const args = ['--input-type=module', '-e', PROGRAM, join(import.meta.dirname, file)]
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

test('a hub where OAuth is switched off loads nothing for it', () => {
  expect(countLoaded('../app.ts')).toBe(0)
  expect(countLoaded('own-issuer.ts')).toBeGreaterThan(0)
})
