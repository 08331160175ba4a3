import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import type { Clock } from '../../../kit/clock.ts'
import type { Exchange } from '../exchange.ts'
import { toLatin1, wrongPassword } from '../exchange.ts'
import { withoutCaretColors } from '../names.ts'

const OUT_OF_BAND = Buffer.from([0xff, 0xff, 0xff, 0xff])
const PRINT = Buffer.concat([OUT_OF_BAND, Buffer.from('print\n')])
/** Milliseconds without packets after which an answer is complete: nothing marks its end. */
const QUIET = 250
/** Bytes after which the answer of a command that prints without end is cut. */
const MAX_BYTES = 256 * 1024
/** Passwords that need no quotes: the game reads the password up to the next space. */
const PASSWORD = /^[!#-:<-~]+$/

/**
 * Sends a command over Quake 3's rcon: "rcon PASSWORD COMMAND" in a connectionless packet, answered by
 * "print" packets of at most a kilobyte each (ioquake3, SVC_RemoteCommand and SV_FlushRedirect). An empty
 * answer is a packet too.
 */
export async function askQuake3(exchange: Exchange): Promise<string> {
  const { host, port, password, command, where, clock, signal } = exchange
  if (!PASSWORD.test(password)) {
    throw wrongPassword(where, 'it has spaces, quotes, semicolons or other signs that Quake 3 cannot take')
  }
  using opened = new DisposableStack()
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
  opened.defer(() => socket.close())
  const answer = collect(socket, clock, signal)
  socket.connect(port, host)
  await Promise.race([once(socket, 'connect', { signal }), answer])
  socket.send(Buffer.concat([OUT_OF_BAND, toLatin1(`rcon ${password} ${command}`)]))
  const text = await answer
  if (/^Bad rcon_?password/i.test(text)) throw wrongPassword(where)
  if (/^No rcon_?password set/i.test(text)) {
    throw wrongPassword(where, 'the game has no rcon password set, so it takes no commands')
  }
  return withoutCaretColors(text)
}

/** Resolves with everything that was printed, once no more packets arrive. */
function collect(socket: Socket, clock: Clock, signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const pieces: Buffer[] = []
  let bytes = 0
  let cancel: (() => void) | undefined
  const finish = () => resolve(Buffer.concat(pieces).toString('latin1'))
  const onAbort = () => {
    cancel?.()
    reject(signal.reason)
  }
  signal.addEventListener('abort', onAbort, { once: true })
  socket.on('error', error => {
    cancel?.()
    reject(error)
  })
  socket.on('message', message => {
    if (!message.subarray(0, PRINT.length).equals(PRINT)) return
    cancel?.()
    bytes += message.length
    pieces.push(message.subarray(PRINT.length))
    cancel = clock.after(bytes > MAX_BYTES ? 0 : QUIET, finish)
  })
  return promise.finally(() => signal.removeEventListener('abort', onAbort))
}
