import type { Socket } from 'node:net'
import { createSplitter, packetBytes, TYPES } from '../upstreams/source/packet.ts'
import { type FakeTcp, startFakeTcp } from './fake-tcp.ts'

export interface FakeRcon extends FakeTcp {
  /** Commands that it accepted. */
  readonly commands: string[]
}

export interface FakeRconOptions {
  password?: string
  /** Returns the answer of a command, packet by packet; default one packet that repeats it. */
  answers?: (command: string) => readonly (string | Buffer)[]
  /**
   * The server to imitate. Minecraft closes a connection if a piece is not exactly one packet or is longer
   * than 1460 bytes, and calls a mark an unknown request. Mute ignores the mark, as some games do.
   */
  like?: 'source' | 'minecraft' | 'mute'
}

/** Starts a responder for Source RCON; two npm clients accept it too. */
export async function startFakeRcon(options: FakeRconOptions = {}): Promise<FakeRcon> {
  const commands: string[] = []
  const tcp = await startFakeTcp(socket => serve(socket, commands, options))
  return Object.assign(tcp, { commands })
}

function serve(socket: Socket, commands: string[], options: FakeRconOptions): void {
  const { password = 'labrcon', answers = command => [`ran ${command}`], like = 'source' } = options
  const split = createSplitter()
  const send = (id: number, type: number, body: string | Buffer = '') =>
    socket.write(packetBytes({ id, type, body: Buffer.from(body) }))
  let open = false
  socket.on('data', piece => {
    if (like === 'minecraft' && (piece.length > 1460 || piece.readInt32LE(0) !== piece.length - 4)) {
      socket.destroy()
      return
    }
    for (const { id, type, body } of split(piece)) {
      const text = body.toString()
      if (type === TYPES.login) {
        open = text === password
        if (like === 'source') send(id, TYPES.answer)
        send(open ? id : -1, TYPES.loggedIn)
      } else if (type === TYPES.command && open) {
        commands.push(text)
        for (const answer of answers(text)) send(id, TYPES.answer, answer)
      } else if (like !== 'mute') {
        send(id, TYPES.answer, like === 'minecraft' ? `Unknown request ${type.toString(16)}` : '')
      }
    }
  })
}
