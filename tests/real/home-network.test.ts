import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tellNetwork } from '../../hub/cli/home-network.ts'
import { send } from '../support/raw-http.ts'
import { readModules } from '../support/terminal-code.ts'
import { startTestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'

const PHONE = '192.168.1.20'

test('a camera reads the code of the terminal; after the yes its address is answered, and it signs in once', async () => {
  await using hub = await startTestHub()
  const { port } = new URL(hub.url)
  const look = () => send(hub.url, { headers: { Host: `${PHONE}:${port}` } })
  expect((await look()).status).toBe(403)
  let said = ''
  const address = {
    address: PHONE,
    netmask: '',
    mac: '',
    internal: false,
    cidr: null,
    family: 'IPv4',
  } as const
  await tellNetwork({
    hub,
    config: { host: '0.0.0.0', hosts: [], publicUrl: undefined },
    configFile: hub.configFile,
    interfaces: { eth0: [address] },
    inContainer: false,
    ask: async () => 'yes',
    print: text => {
      said += `${text}\n`
    },
  })
  await until('the address is answered', async () => (await look()).status === 200)
  const link = new URL(readCode(readModules(said), hub.folder))
  expect(link.host).toBe(`${PHONE}:${port}`)
  const secret = new URLSearchParams(link.hash.slice(1)).get('token')
  const signIn = () =>
    send(`${hub.url}/session`, { method: 'POST', headers: { Authorization: `Bearer ${secret}` } })
  expect(await signIn()).toMatchObject({ status: 201, json: { name: 'owner', role: 'owner' } })
  expect((await signIn()).status).toBe(401)
})

/** Reads a code as a camera does. */
function readCode(modules: readonly boolean[][], folder: string): string {
  const widen = <Value>(values: readonly Value[]) => values.flatMap(value => [value, value, value, value])
  const rows = widen(modules).map(row => widen(row))
  const image = join(folder, 'code.pbm')
  const pixels = rows.map(row => row.map(Number).join(' ')).join('\n')
  writeFileSync(image, `P1\n${rows[0]?.length} ${rows.length}\n${pixels}\n`)
  return execFileSync('zbarimg', ['--quiet', '--raw', image], { encoding: 'utf8' }).trim()
}
