import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listens } from './listens.ts'
import { freePort, type RealProgram, startReal } from './scratch.ts'

/** Starts a dedicated OpenTTD server; `port` is the game's, over TCP and UDP. */
export async function startOpenttd(): Promise<RealProgram> {
  const admin = await freePort()
  return await startReal({
    name: 'openttd',
    prepare({ folder, port }) {
      const settings = [
        '[misc]',
        'graphicsset = OpenGFX',
        '[game_creation]',
        'map_x = 6',
        'map_y = 6',
        '[network]',
        'server_name = Lab trains',
        'server_game_type = local',
        `server_admin_port = ${admin}`,
      ]
      writeFileSync(join(folder, 'lab.cfg'), `${settings.join('\n')}\n`)
      return {
        command: '/usr/games/openttd',
        args: ['-D', `127.0.0.1:${port}`, '-c', join(folder, 'lab.cfg')],
        options: { cwd: folder, env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder } },
      }
    },
    // The port opens before the map is made, but the server answers only afterwards.
    isReady: url => listens(Number(new URL(url).port)),
  })
}
