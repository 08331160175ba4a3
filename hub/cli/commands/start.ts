import { flushCompileCache } from 'node:module'
import v8 from 'node:v8'
import { createEnvironment } from '../../config/environment.ts'
import { locateData } from '../../config/load.ts'
import { tokenFile } from '../../config/token.ts'
import { systemClock } from '../../core/clock.ts'
import { main } from '../../main.ts'
import { clearUpAtRest } from '../clear-up.ts'
import { notifyReady } from '../notify-ready.ts'

/** Starts the hub and prints its address, with the token in it only for a person at a terminal. */
export async function start(options: { acceptLoss?: boolean } = {}): Promise<void> {
  const { dataFolder, token: own } = locateData(createEnvironment())
  const where = own === undefined ? `in ${tokenFile(dataFolder)}` : 'what SUPERBLOOM_TOKEN says'
  using atRest = new DisposableStack()
  await main(({ url, token }) => {
    const open = process.stdout.isTTY
      ? `Open ${url}/#token=${token}`
      : `Open ${url}\nIt asks for the token, which is ${where}.`
    // The cache is written now: a hub that is killed later would leave nothing for its next start.
    flushCompileCache()
    // The space grows in two steps from about 1 MB to what a load needs: doubling makes calls a tenth slower.
    v8.setFlagsFromString('--semi-space-growth-factor=8')
    // Calls and turns become as fast as with two compilers, after a few hundred runs instead of thousands.
    v8.setFlagsFromString('--invocation-count-for-turbofan=500')
    atRest.use(clearUpAtRest(systemClock))
    process.stdout.write(`Superbloom runs. ${open}\n`)
    notifyReady()
  }, options)
}
