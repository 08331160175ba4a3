import { flushCompileCache } from 'node:module'
import v8 from 'node:v8'
import { createEnvironment } from '../../config/environment.ts'
import { locateData } from '../../config/load.ts'
import { tokenFile } from '../../config/token.ts'
import { systemClock } from '../../core/clock.ts'
import { main } from '../../main.ts'
import { clearUpAtRest } from '../clear-up.ts'
import { notifyReady } from '../notify-ready.ts'

/** Starts the hub and says where it is: with the token in the address only for a person at a terminal. */
export async function start(options: { acceptLoss?: boolean } = {}): Promise<void> {
  const { dataFolder, token: own } = locateData(createEnvironment())
  const where = own === undefined ? `in ${tokenFile(dataFolder)}` : 'what SUPERBLOOM_TOKEN says'
  using atRest = new DisposableStack()
  await main(({ url, token }) => {
    const open = process.stdout.isTTY
      ? `Open ${url}/#token=${token}`
      : `Open ${url}\nIt asks for the token, which is ${where}.`
    // A hub that is killed would leave nothing for its next start.
    flushCompileCache()
    // In two steps from the megabyte that clearing up leaves to what a load needs: by doubling, calls cost a tenth more.
    v8.setFlagsFromString('--semi-space-growth-factor=8')
    // Calls and turns are then as fast as with two compilers, and after a few hundred of them instead of thousands.
    v8.setFlagsFromString('--invocation-count-for-turbofan=500')
    atRest.use(clearUpAtRest(systemClock))
    process.stdout.write(`Superbloom runs. ${open}\n`)
    notifyReady()
  }, options)
}
