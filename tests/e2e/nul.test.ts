import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { callHub } from '../../hub/cli/call-hub.ts'
import { openChat } from '../support/chat-client.ts'
import { call, createScriptedModel, say } from '../support/scripted-model.ts'
import { startTestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'
import { listEvents, post, sign } from '../support/webhooks.ts'

/** Returns the columns that hold a text with a NUL, and how many texts there are. */
function findNuls(folder: string) {
  const database = new Database(join(folder, 'superbloom.db'), { readonly: true })
  const tables = database
    .prepare("select name from sqlite_master where type = 'table'")
    .pluck()
    .all() as string[]
  const found: string[] = []
  let texts = 0
  for (const table of tables.filter(name => !/^(sqlite|kysely|history_search)/.test(name))) {
    for (const { name } of database.pragma(`table_info(${table})`) as { name: string }[]) {
      const count = (where: string) =>
        Number(
          database
            .prepare(`select count(*) from ${table} where typeof("${name}") = 'text' ${where}`)
            .pluck()
            .get(),
        )
      texts += count('')
      if (count(`and instr(cast("${name}" as blob), x'00') > 0`) > 0) found.push(`${table}.${name}`)
    }
  }
  database.close()
  return { texts, found }
}

test('text that enters loses its NUL characters at the door, whichever that is', async () => {
  const model = createScriptedModel([
    call([['store_context', { key: 'wi\0sh', value: 'never stop\0 plex' }]], 'Let me\0 see.'),
    say('No\0ted.'),
    say('You\0 too.'),
    say('Se\0en.'),
  ])
  await using hub = await startTestHub({
    config: 'servers: { metrics: false }\nwebhooks: { door: { secret: abcdefghijklmnopqrst } }\n',
    agents: { homelab: '---\nevents: ["webhook.*"]\n---\nYou look after the homelab.\n' },
    overrides: { model },
  })
  using chat = await openChat(hub)
  await chat.subscribe('homelab', 0)
  expect((await chat.ask('homelab', 're\0member')).text).toBe('Noted.')
  const { structured } = await callHub(hub, 'hub_chat', { message: 'he\0llo' })
  expect(structured).toMatchObject({ status: 'replied', reply: 'You too.' })
  const body = JSON.stringify({ 'ti\0tle': 'al\0ert', id: 'a\0b' })
  expect((await post(hub, 'door', body, sign(body, 'abcdefghijklmnopqrst'))).status).toBe(202)
  await until('it is handled', async () => (await listEvents(hub))[0]?.status === 'handled')
  const { texts, found } = findNuls(hub.dataFolder)
  expect(texts).toBeGreaterThan(50)
  expect(found).toEqual([])
})
