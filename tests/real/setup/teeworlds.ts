import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listens } from './listens.ts'
import { freePort, type RealProgram, startReal } from './scratch.ts'

export const ECON_PASSWORD = 'labecon'

/** Starts a Teeworlds server that is not registered on the internet; `port` is its external console's. */
export async function startTeeworlds(): Promise<RealProgram> {
  const game = await freePort()
  return await startReal({
    name: 'teeworlds',
    prepare({ folder, port }) {
      const settings = [
        'bindaddr 127.0.0.1',
        `sv_port ${game}`,
        'sv_register 0',
        'sv_name Lab',
        'ec_bindaddr 127.0.0.1',
        `ec_port ${port}`,
        `ec_password ${ECON_PASSWORD}`,
      ]
      writeFileSync(join(folder, 'lab.cfg'), `${settings.join('\n')}\n`)
      return {
        command: '/usr/games/teeworlds-server',
        args: ['-f', 'lab.cfg'],
        options: { cwd: folder, env: { HOME: folder, XDG_DATA_HOME: folder } },
      }
    },
    isReady: url => listens(Number(new URL(url).port)),
  })
}
