import { execFile } from 'node:child_process'
import { childEnvironment } from '../config/environment.ts'
import { describeError } from '../core/errors.ts'

/**
 * Tells systemd that the service has started, where systemd waits for it (`Type=notify`). Node has no Unix
 * datagram sockets, so systemd's own program sends it, which needs `NotifyAccess=all` in the unit.
 */
export function notifyReady(): void {
  const env = childEnvironment(['NOTIFY_SOCKET'])
  if (!env['NOTIFY_SOCKET']) return
  execFile('systemd-notify', ['--ready'], { env }, error => {
    if (error) process.stderr.write(`systemd was not told that the hub runs: ${describeError(error)}\n`)
  })
}
