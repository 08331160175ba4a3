import { createSocket } from 'node:dgram'
import { once } from 'node:events'

export interface FakePlayer {
  name: string
  /** Milliseconds; 0 for a bot. */
  ping: number
}

export interface FakeQuake3 extends AsyncDisposable {
  readonly port: number
  players: FakePlayer[]
  password: string
  /** Returns the output of a command, packet by packet. */
  prints: (command: string) => readonly string[]
  /** False makes it silent, as a game that hangs. */
  answers: boolean
  /** Resolves when the next packet has arrived. */
  nextQuestion(): Promise<unknown>
  /** Commands that it accepted. */
  readonly commands: string[]
}

const OUT_OF_BAND = '\xff\xff\xff\xff'

/** Starts a UDP server that speaks Quake 3's getstatus and rcon, as ioquake3 does. */
export async function startFakeQuake3(port = 0): Promise<FakeQuake3> {
  const socket = createSocket('udp4')
  const fake: Omit<FakeQuake3, 'port'> = {
    players: [],
    password: 'labrcon',
    prints: command => [`ran ${command}\n`],
    answers: true,
    commands: [],
    nextQuestion: () => once(socket, 'message'),
    async [Symbol.asyncDispose]() {
      socket.close()
      await once(socket, 'close')
    },
  }
  socket.on('message', (message, from) => {
    const text = message.toString('latin1')
    if (!fake.answers || !text.startsWith(OUT_OF_BAND)) return
    const send = (answer: string) =>
      socket.send(Buffer.from(`${OUT_OF_BAND}${answer}`, 'latin1'), from.port, from.address)
    if (text.startsWith(`${OUT_OF_BAND}getstatus`)) return send(toStatus(fake.players))
    const [, password, command = ''] = /rcon (\S+) (.*)$/s.exec(text) ?? []
    if (password !== fake.password) return send('print\nBad rconpassword.\n')
    fake.commands.push(command)
    for (const print of fake.prints(command)) send(`print\n${print}`)
  })
  socket.bind(port, '127.0.0.1')
  await once(socket, 'listening')
  return Object.assign(fake, { port: socket.address().port })
}

function toStatus(players: readonly FakePlayer[]): string {
  const lines = players.map(({ name, ping }) => `0 ${ping} "${name}"\n`)
  return `statusResponse\n\\sv_hostname\\^1Lab^7 Q3\\mapname\\aggressor\\sv_maxclients\\8\\version\\ioq3 1.36\n${lines.join('')}`
}
