import { execFile } from 'node:child_process'
import { flushCompileCache } from 'node:module'
import type { Command } from 'commander'
import { childEnvironment, createEnvironment } from '../../config/environment.ts'
import { locateData } from '../../config/load.ts'
import { tokenFile } from '../../config/token.ts'
import { describeError } from '../../core/errors.ts'
import { main } from '../../main.ts'

export function define(command: Command): void {
  command
    .option('--accept-loss', 'go on with a store that lost what it held, once')
    .action((options: { acceptLoss?: boolean }) => start(options))
}

/** Starts the hub and prints its address, with the token in it only for a person at a terminal. */
async function start(options: { acceptLoss?: boolean }): Promise<void> {
  const { dataFolder, token: own } = locateData(createEnvironment())
  const where = own === undefined ? `in ${tokenFile(dataFolder)}` : 'what SUPERBLOOM_TOKEN says'
  await main(({ url, token }) => {
    const open = process.stdout.isTTY
      ? `Open ${url}/#token=${token}`
      : `Open ${url}\nIt asks for the token, which is ${where}.`
    // The cache is written now: a hub that is killed later would leave nothing for its next start.
    flushCompileCache()
    process.stdout.write(`Superbloom runs. ${open}\n`)
    notifyReady()
  }, options)
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
