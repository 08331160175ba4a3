import { join } from 'node:path'
import pg from 'pg'
import { openPostgres } from '../../hub/store/open.ts'
import { findProblems } from '../crash/checks.ts'
import { createPerson } from '../crash/person.ts'
import { openProvider } from '../crash/provider.ts'
import { openToolServer } from '../crash/tool-server.ts'
import { agentFile, CONVERSATIONS, untilQuiet } from '../crash/world.ts'
import { readRows } from '../support/read-rows.ts'
import { makeTempFolder } from '../support/temp-store.ts'
import { leadAlone } from '../support/test-database.ts'
import { createRecord } from '../support/until.ts'
import { openCuttingProxy } from './cutting-proxy.ts'
import { makeMachine } from './machine.ts'
import { Member } from './member.ts'
import { type PostgresServer, startServer } from './server.ts'
import { asLife, findOverlaps, installWitness } from './witness.ts'

const CLOCK = new URL('shift-clock.mjs', import.meta.url).href
const HOUR = 3_600_000
/** Milliseconds for a start, a takeover or the remaining work, on a machine that is busy with other things for minutes. */
export const PATIENCE_MS = 300_000
/** Milliseconds before each piece of a reply and of a call, so that a fault can come in their midst. */
const PIECE_MS = 10

/** The machines: how far their clocks are ahead, and what each way to the database takes, in milliseconds. */
const KINDS = [
  { name: 'the right time', ahead: 0, delay: 0 },
  { name: 'an hour ahead', ahead: HOUR, delay: 0 },
  { name: 'an hour behind, 30 ms away', ahead: -HOUR, delay: 30 },
] as const

const LISTENS = agentFile(false, true)
const AGENTS = { alpha: LISTENS, beta: LISTENS, gamma: agentFile(false, false) }

export type Trio = Awaited<ReturnType<typeof openTrio>>

/** Opens three hubs on a PostgreSQL of their own, and the programs around them. `first` leads first, by its number. */
export async function openTrio(first: number) {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(makeTempFolder()).path
  const server = stack.use(await startServer())
  const { url, pool } = await prepare(server, stack)
  const provider = stack.use(await openProvider())
  const tools = stack.use(await openToolServer())
  provider.delay = tools.delay = () => PIECE_MS
  const person = stack.use(createPerson(CONVERSATIONS, { retries: true }))
  const rows = <Row>(text: string) => readRows<Row>({ dataFolder: '', url }, text)
  const leads = createRecord<Member>()
  let lives = 0
  const open = async ({ name, ahead, delay }: (typeof KINDS)[number]): Promise<Member> => {
    const machine = await makeMachine(url, {
      path: join(folder, name),
      agents: AGENTS,
      server: `probe: { url: "${tools.url}", prefix: "", headers: { X-Hub: "\${LIFE}" } }`,
      config: 'tools: { approve: [guard] }\n',
    })
    const link = stack.use(await openCuttingProxy(Number(new URL(url).port), delay))
    const variables = () => {
      const life = String(++lives)
      return {
        SUPERBLOOM_STORE: `${url.replace(/:\d+\//, `:${link.port}/`)}?${asLife(life)}`,
        SUPERBLOOM_MODEL: 'scripted',
        OPENAI_BASE_URL: provider.url,
        OPENAI_API_KEY: life,
        LIFE: life,
        NODE_OPTIONS: `--import=${CLOCK}`,
        CLOCK_AHEAD_MS: String(ahead),
      }
    }
    const onLead = () => {
      leads.add(member)
      person.connect(member.hub, () =>
        rows<{ id: string }>("select id from approvals where status = 'open'").map(({ id }) => id),
      )
    }
    const member = stack.use(new Member({ name, machine, link, variables, onLead }))
    return member
  }
  const members: Member[] = []
  for (const index of KINDS.keys()) {
    const kind = KINDS[(first + index) % KINDS.length] ?? KINDS[0]
    const member = await open(kind)
    members.push(member)
    await member.start()
    await member.up(PATIENCE_MS)
  }
  const ask = async <Row>(text: string) => {
    const asJson = `select coalesce(json_agg(one), '[]') as found from (${text}) as one`
    const {
      rows: [row],
    } = await pool.query<{ found: Row[] }>(asJson)
    return row?.found ?? []
  }
  const opened = stack.move()
  return {
    server,
    provider,
    tools,
    person,
    members,
    /** The hubs that took the lead, in order. */
    leads,
    get leader(): Member {
      const member = leads.all.at(-1)
      if (!member) throw new Error('No hub leads')
      return member
    },
    quiet: () => untilQuiet(ask, person, tools, PATIENCE_MS),
    /** Returns the promises that were broken, in words; nothing may be left to do. */
    findProblems: async () => [
      ...findProblems({ person, tools, schedules: [], rows }),
      ...findOverlaps({
        leads: await ask('select life, epoch from witness.leads order by n'),
        writes: await ask('select life, epoch, thread, fence from witness.writes order by n'),
        work: [...provider.requests, ...tools.effects.all],
      }),
    ],
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** Makes the tables, which note who writes; returns what connects anew for each query, as a server may be restarted. */
async function prepare(server: PostgresServer, stack: AsyncDisposableStack) {
  const url = `${server.url}/postgres`
  await (await openPostgres(url, leadAlone()))[Symbol.asyncDispose]()
  const pool = new pg.Pool({ connectionString: url, max: 1, maxUses: 1 })
  stack.defer(() => pool.end())
  await installWitness(pool)
  return { url, pool }
}
