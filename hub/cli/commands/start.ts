import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { networkInterfaces } from 'node:os'
import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { childEnvironment, createEnvironment } from '../../config/environment.ts'
import { locateConfig, locateData } from '../../config/load.ts'
import { tokenFile } from '../../config/token.ts'
import { describeError } from '../../core/errors.ts'
import { main } from '../../main.ts'
import { isInContainer } from '../../model/find-models.ts'
import type { Standby } from '../../store/postgres-lease.ts'
import { tellNetwork } from '../home-network.ts'
import { printError } from '../print.ts'

export function define(command: Command): void {
  command
    .option('--accept-loss', 'go on with a store that lost what it held, once')
    .option(
      '--accept-files',
      'lead also where the files here differ from those of the hub that led last, once',
    )
    .action((options: Accepted) => start(options))
}

interface Accepted {
  acceptLoss?: boolean
  acceptFiles?: boolean
}

/** Starts the hub and prints its address, with the token in it only for a person at a terminal. */
async function start(accepted: Accepted): Promise<void> {
  const { dataFolder, token: own } = locateData(createEnvironment())
  const where = own === undefined ? `in ${tokenFile(dataFolder)}` : 'what SUPERBLOOM_TOKEN says'
  const ending = new AbortController()
  const onStandby = ({ why, url }: Standby) => {
    const reason =
      why === 'led' ? `${url} leads` : `the files here differ from those of ${url}, which led last`
    const opens = own === undefined ? ` The token ${where} opens that hub only once this one has led.` : ''
    process.stdout.write(`Superbloom waits: ${reason}.${opens}\n`)
    notifyReady()
  }
  await main(
    (hub, config) => {
      const { token } = hub
      // A certificate is for a name, which is seldom the address that the hub listens on.
      const url = (config.tls && config.publicUrl) ?? hub.url
      const open = process.stdout.isTTY
        ? `Open ${url}/#token=${token}`
        : `Open ${url}\nIt asks for the token, which is ${where}.`
      // The cache is written now: a hub that is killed later would leave nothing for its next start.
      flushCompileCache()
      process.stdout.write(`Superbloom runs. ${open}\n`)
      notifyReady()
      tellNetwork({
        hub,
        config,
        configFile: locateConfig(createEnvironment()),
        interfaces: networkInterfaces(),
        inContainer: isInContainer(),
        ask: hasPerson() ? text => ask(text, ending.signal) : undefined,
        print: text => void process.stdout.write(`${text}\n`),
      }).catch(error => {
        if (!ending.signal.aborted) printError(`superbloom: ${describeError(error)}`)
      })
    },
    { ...accepted, onStandby },
  )
  ending.abort()
}

/** Tells whether a person at a terminal can answer. Linux stops a job in the background that reads from its terminal. */
function hasPerson(): boolean {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false
  if (process.platform !== 'linux') return true
  // After the name in parentheses: state, parent, process group, session, terminal, and its group in the foreground.
  const [, , group, , , foreground] = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return group === foreground
}

/** Asks a person at the terminal. Without a terminal's own editing, Ctrl+C stays a signal. */
async function ask(question: string, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout, terminal: false })
  try {
    return await lines.question(question, { signal })
  } finally {
    lines.close()
    process.stdin.destroy()
  }
}

/**
 * Tells systemd that the service has started, where systemd waits for it (`Type=notify`). Node has no Unix
 * datagram sockets, so systemd's own program sends it, which needs `NotifyAccess=all` in the unit.
 */
function notifyReady(): void {
  const env = childEnvironment(['NOTIFY_SOCKET'])
  if (!env['NOTIFY_SOCKET']) return
  execFile('systemd-notify', ['--ready'], { env }, error => {
    if (error) process.stderr.write(`systemd was not told that the hub runs: ${describeError(error)}\n`)
  })
}
