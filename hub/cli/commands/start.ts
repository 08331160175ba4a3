import { flushCompileCache } from 'node:module'
import v8 from 'node:v8'
import { main } from '../../main.ts'

/** Starts the hub and says where it is: with the token in the address only for a person at a terminal. */
export async function start(): Promise<void> {
  await main(({ url, token }) => {
    const whole = process.stdout.isTTY ? `${url}/#token=${token}` : url
    // A hub that is killed would leave nothing for its next start.
    flushCompileCache()
    v8.setFlagsFromString('--semi-space-growth-factor=2')
    process.stdout.write(`Superbloom runs. Open ${whole}\n`)
  })
}
