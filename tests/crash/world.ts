import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { callHub } from '../../hub/cli/call-hub.ts'
import { builtProgram } from '../support/built.ts'
import { type Program, startProgram } from '../support/program.ts'
import { readRows } from '../support/read-rows.ts'
import { makeTempFolder } from '../support/temp-store.ts'
import { makeEmptyDatabase, server } from '../support/test-database.ts'
import { until } from '../support/until.ts'
import { createPerson, type Person } from './person.ts'
import { openProvider, type Provider } from './provider.ts'
import { openToolServer, type ToolServer } from './tool-server.ts'

const PRELOAD = pathToFileURL(join(import.meta.dirname, 'die-at.mjs')).href
const TOKEN = 'a-token-for-the-crash-tests'
const AGENTS = ['alpha', 'beta', 'gamma'] as const
export const CONVERSATIONS = ['alpha', 'alpha/side', 'beta', 'beta/side', 'gamma'] as const
/** Milliseconds for a start, or for the remaining work, on a busy machine. */
const PATIENCE_MS = 90_000
/** The model's context, small enough that a long run reaches the compaction thresholds. */
const CONTEXT_TOKENS = '16384'

/** The point at which a process kills itself (see die-at.mjs). */
export interface DieAt {
  at: 'before commit' | 'after commit' | 'after statement' | 'before frame'
  /** A regular expression for a statement with its arguments, or for a frame. */
  writing?: string
  /** The passing at which it happens; the default is the first. */
  times?: number
}

/** One process of the hub. */
export interface Life {
  readonly program: Program
  /** Resolves with its address once it runs; undefined if it ended before. */
  readonly ready: Promise<string | undefined>
  readonly ended: Program['ended']
}

/** The hub as a process that is killed and restarted on the same folders, and the programs around it. */
export interface World extends AsyncDisposable {
  readonly provider: Provider
  readonly tools: ToolServer
  readonly person: Person
  /** The `mark` of each schedule that the hub has acknowledged. */
  readonly schedules: string[]
  /** Sets whether the agents' files ask for a wake-up every second, from the next start on. */
  setTicking(ticking: boolean): void
  start(dieAt?: DieAt): Promise<Life>
  /** Connects the person once the hub runs, if it gets so far. */
  connect(life: Life): Promise<void>
  /** Starts the hub and connects the person. */
  enter(dieAt?: DieAt): Promise<Life>
  /** Makes a schedule that fires after a second. */
  schedule(agent: string, mark: string): Promise<void>
  /** Resolves once no work is left. */
  quiet(): Promise<void>
  rows<Row>(sql: string): Row[]
}

/** Returns the file of an agent that may work without end, and asks for a wake-up every second if it is ticking. */
export const agentFile = (ticking: boolean, listens: boolean) => `---
events: [${listens ? 'probe.tick' : ''}]
schedules: [${ticking ? '{ cron: "* * * * * *", timezone: UTC, reason: "mark-second" }' : ''}]
limits: { steps: 1000, minutes: 60, tokens: 100000000, calls: 100000, tasks: 1000, wakesPerDay: 1000000, tokensPerDay: 1000000000 }
---

You look after the homelab.
`

export async function openWorld(): Promise<World> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(makeTempFolder()).path
  const provider = stack.use(await openProvider())
  const tools = stack.use(await openToolServer())
  const person = stack.use(createPerson(CONVERSATIONS))
  mkdirSync(join(folder, 'agents'))
  const setTicking = (ticking: boolean) => {
    for (const name of AGENTS)
      writeFileSync(
        join(folder, 'agents', `${name}.md`),
        agentFile(ticking && name !== 'beta', name !== 'gamma'),
      )
  }
  setTicking(false)
  writeFileSync(
    join(folder, 'superbloom.yaml'),
    `servers: { metrics: false, probe: { url: "${tools.url}", prefix: "" } }\ntools: { approve: [guard] }\n`,
  )
  const url = server === undefined ? undefined : stack.use(await makeEmptyDatabase(server)).url
  const rows = <Row>(sql: string) => readRows<Row>({ dataFolder: join(folder, 'data'), url }, sql)
  const schedules: string[] = []
  let life: Life | undefined
  stack.defer(() => life?.program[Symbol.asyncDispose]())
  const start = async (dieAt?: DieAt) => {
    life = await startLife({ folder, store: url }, provider.url, dieAt)
    return life
  }
  const connect = async ({ ready }: Life) => {
    const url = await ready
    if (url === undefined) return
    const open = () =>
      rows<{ id: string }>("select id from approvals where status = 'open'").map(({ id }) => id)
    person.connect({ url, token: TOKEN }, open)
  }
  const whole = stack.move()
  return {
    provider,
    tools,
    person,
    schedules,
    setTicking,
    start,
    connect,
    async enter(dieAt) {
      const entered = await start(dieAt)
      await connect(entered)
      return entered
    },
    async schedule(agent, mark) {
      const url = await life?.ready
      if (url === undefined) return
      await callHub({ url, token: TOKEN }, 'hub_create_schedule', {
        agent,
        delay: '1s',
        reason: `mark-${mark}`,
      })
      schedules.push(mark)
    },
    quiet: () => untilQuiet(rows, person, tools),
    rows,
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  }
}

async function startLife(
  { folder, store }: { folder: string; store: string | undefined },
  provider: string,
  dieAt: DieAt | undefined,
): Promise<Life> {
  const { PATH, HOME } = process.env
  const program = await startProgram(
    process.execPath,
    [...(dieAt ? ['--import', PRELOAD] : []), builtProgram, 'start'],
    {
      cwd: folder,
      base: { PATH, HOME },
      env: {
        SUPERBLOOM_CONFIG: join(folder, 'superbloom.yaml'),
        SUPERBLOOM_DATA: join(folder, 'data'),
        SUPERBLOOM_AGENTS: join(folder, 'agents'),
        SUPERBLOOM_PORT: '0',
        SUPERBLOOM_TOKEN: TOKEN,
        SUPERBLOOM_MODEL: 'scripted',
        SUPERBLOOM_MODEL_CONTEXT: CONTEXT_TOKENS,
        SUPERBLOOM_CRASH_HOLD: '0',
        OPENAI_BASE_URL: provider,
        OPENAI_API_KEY: 'none',
        ...(store === undefined ? {} : { SUPERBLOOM_STORE: store }),
        ...(dieAt ? { DIE_AT: JSON.stringify(dieAt) } : {}),
      },
    },
  )
  const said = program.says(/Open (http\S+)/, PATIENCE_MS).then(match => match[1])
  const ready = Promise.race([said, program.ended.then(() => undefined)])
  // The end of the process is reported by `ended`, so this rejection needs no handling.
  said.catch(() => undefined)
  return { program, ready, ended: program.ended }
}

/** Reads rows of a hub's store, whether at once or later. */
type ReadRows = <Row>(sql: string) => Row[] | Promise<Row[]>

/** Counts every kind of unfinished work. */
const OPEN_WORK = `
  select 'items that wait' as what, count(*) as open from inbox where cycle_id is null
  union all select 'cycles that run', count(*) from cycles where status = 'running'
  union all select 'schedules', count(*) from schedules where status = 'active' and next_run is not null
  union all select 'approvals', count(*) from approvals where status in ('open', 'approved') and answered_at is null
  union all select 'threads awake', count(*) from threads where status in ('active', 'waiting')`

export async function untilQuiet(
  rows: ReadRows,
  person: Person,
  tools: ToolServer,
  within = PATIENCE_MS,
): Promise<void> {
  let left: string[] = []
  const isQuiet = async () => {
    // The work is counted last: what an event or a message began is stored together with it.
    const [{ events = 0, messages = 0 } = {}] = await rows<{ events: number; messages: number }>(
      "select (select count(*) from events where type = 'probe.tick') as events, count(*) as messages from messages",
    )
    const work = await rows<{ what: string; open: number }>(OPEN_WORK)
    const counted = [
      ...work,
      { what: 'messages not accepted', open: person.wishes.filter(wish => !wish.accepted).length },
      { what: 'messages not shown', open: messages - person.shown.all.length },
      { what: 'events not read', open: tools.raised.length - events },
    ]
    left = counted.filter(({ open }) => open !== 0).map(({ what, open }) => `${what}: ${open}`)
    return left.length === 0
  }
  try {
    await until('nothing is left to do', isQuiet, { within })
  } catch (error) {
    throw new Error(`Not quiet after ${within / 1000} s: ${left.join(', ')}`, { cause: error })
  }
}
