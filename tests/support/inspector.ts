import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { systemEnvironment } from '../../servers/kit/env.ts'
import { serve } from '../../servers/kit/serve.ts'
import type { ServerDefinition } from '../../servers/kit/server.ts'
import { compileCache } from '../../servers/kit/testing/compile-cache.ts'

const LIMIT_MS = 60_000
const INSPECTOR = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json')),
  'clients/launcher/build/index.js',
)

interface Listed {
  name: string
  outputSchema?: object
}

/** A server as the official inspector's CLI sees it. */
export interface Inspected {
  tools: Listed[]
  /** Remarks of the strict check of the tool list; empty if there are none. Errors reject. */
  remarks: string
  call(name: string, args?: Record<string, string>): Promise<Record<string, unknown>>
}

/** Inspects the server's file, which the inspector starts over stdio for each request. */
export async function inspectOverStdio(
  file: string,
  environment: Record<string, string>,
): Promise<Inspected> {
  const variables = Object.entries({ ...compileCache(), ...environment }).flatMap(([name, value]) => [
    '-e',
    `${name}=${value}`,
  ])
  return inspect([...variables, process.execPath, file])
}

/** Inspects the server behind HTTP with a token, for as long as `use` runs. */
export async function inspectOverHttp<Result>(
  definition: ServerDefinition,
  environment: Record<string, string>,
  use: (inspected: Inspected) => Promise<Result>,
): Promise<Result> {
  const token = 'a-token-for-the-inspector'
  const transport = { kind: 'http', port: 0, token } as const
  await using served = await serve(definition, { transport, environment, log: () => undefined })
  const header = `Authorization: Bearer ${token}`
  return await use(await inspect([served.url ?? '', '--transport', 'http', '--header', header]))
}

async function inspect(target: string[]): Promise<Inspected> {
  const listed = await run([...target, '--method', 'tools/list', '--strict'])
  if (listed.stderr !== '' && !/\b0 errors,/.test(listed.stderr)) {
    throw new Error(`The inspector found errors: ${listed.stderr}`)
  }
  return {
    tools: (JSON.parse(listed.stdout) as { tools: Listed[] }).tools,
    remarks: listed.stderr,
    async call(name, args = {}) {
      const pairs = Object.entries(args).map(([key, value]) => `${key}=${value}`)
      const given = pairs.length > 0 ? ['--tool-arg', ...pairs] : []
      const called = await run([...target, '--method', 'tools/call', '--tool-name', name, ...given])
      return JSON.parse(called.stdout) as Record<string, unknown>
    },
  }
}

function run(args: string[]): Promise<{ stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const env = { PATH: systemEnvironment().PATH, HOME: tmpdir(), ...compileCache() }
    execFile(
      process.execPath,
      [INSPECTOR, '--cli', ...args],
      { env, timeout: LIMIT_MS },
      (error, stdout, stderr) => {
        if (error) reject(new Error(`The inspector failed: ${stderr}`, { cause: error }))
        else resolve({ stdout, stderr })
      },
    )
  })
}
