import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'

const HEAD = '\xff\xff\xff\xff'

export interface Quake3Options {
  port: number
  password: string
  name: string
}

/**
 * A game server that speaks Quake 3's query and rcon over UDP; `join NAME` and `leave NAME` are rcon commands
 * here.
 */
export interface Quake3 extends AsyncDisposable {
  readonly port: number
  readonly players: ReadonlySet<string>
  /** Texts of rcon's `say`. */
  readonly said: readonly string[]
}

export async function startQuake3({ port, password, name }: Quake3Options): Promise<Quake3> {
  const players = new Set<string>()
  const said: string[] = []
  const socket = createSocket('udp4')
  const info = {
    sv_hostname: name,
    mapname: 'aggressor',
    sv_maxclients: '8',
    version: 'lab 1.0',
    protocol: '71',
  }
  const commands: Record<string, (rest: string) => string> = {
    join(player) {
      players.add(player)
      return `${player} joined`
    },
    leave(player) {
      players.delete(player)
      return `${player} left`
    },
    say(text) {
      said.push(text)
      return `broadcast: print "console: ${text}"`
    },
    status: () =>
      ['map: aggressor', 'num score ping name', ...[...players].map((each, at) => `${at} 0 40 ${each}`)].join(
        '\n',
      ),
  }
  const answers: Record<string, (rest: string) => string> = {
    getinfo: challenge => `infoResponse\n${toPairs({ ...info, clients: String(players.size), challenge })}`,
    getstatus: challenge =>
      [
        'statusResponse',
        toPairs({ ...info, challenge }),
        ...[...players].map(each => `0 40 "${each}"`),
        '',
      ].join('\n'),
    rcon: rest => {
      const [, given = '', command = '', argument = ''] = /^"?([^" ]*)"? ?(\S*) ?(.*)$/s.exec(rest) ?? []
      if (given !== password) return 'print\nBad rconpassword.\n'
      const run = commands[command]
      return `print\n${run ? run(argument.replace(/^"|"$/g, '')) : `unknown command: ${command}`}\n`
    },
  }
  socket.on('message', (packet, from) => answer(socket, packet, from, answers))
  socket.bind(port, '127.0.0.1')
  await once(socket, 'listening')
  return {
    port: socket.address().port,
    players,
    said,
    async [Symbol.asyncDispose]() {
      socket.close()
      await once(socket, 'close')
    },
  }
}

function answer(
  socket: Socket,
  packet: Buffer,
  from: RemoteInfo,
  answers: Record<string, (rest: string) => string>,
): void {
  const text = packet.toString('latin1')
  if (!text.startsWith(HEAD)) return
  const [, command = '', rest = ''] = /^(\w+)\s?(.*?)[\n\0]*$/s.exec(text.slice(HEAD.length)) ?? []
  const reply = answers[command.toLowerCase()]
  if (reply) socket.send(Buffer.from(HEAD + reply(rest), 'latin1'), from.port, from.address)
}

function toPairs(values: Record<string, string>): string {
  return Object.entries(values)
    .map(([key, value]) => `\\${key}\\${value}`)
    .join('')
}

if (import.meta.main) {
  const [, , port = '27960', password = 'lab'] = process.argv
  const server = await startQuake3({ port: Number(port), password, name: 'Lab Arena' })
  process.stdout.write(`Opening IP socket: 127.0.0.1:${server.port}\n`)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => void server[Symbol.asyncDispose]().then(() => process.exit(0)))
  }
}
