// A Minecraft server and its players, by minecraft-protocol, which is installed in the given folder. Players
// join and leave by lines on the standard input: "join Ann", "leave Ann".
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const [, , folder, port] = process.argv
const { createServer, createClient } = createRequire(join(folder, 'package.json'))('minecraft-protocol')
const place = { host: '127.0.0.1', port: Number(port), version: '1.16.5' }
const players = new Map()

const server = createServer({ ...place, 'online-mode': false, maxPlayers: 5, motd: '§aLab §fblocks' })
server.on('listening', () => process.stdout.write('listening\n'))

createInterface({ input: process.stdin }).on('line', line => {
  const [what, name] = line.split(' ')
  if (what === 'join') players.set(name, createClient({ ...place, username: name, auth: 'offline' }))
  else players.get(name)?.end()
})
