import {
  effect,
  hasDeadLetter,
  hasSession,
  hasStatus,
  holdModel,
  holdSummaries,
  holdTools,
  once,
  pieceOfReply,
  replied,
  summary,
} from './moments.ts'
import type { DieAt, World } from './world.ts'

/** A named point at which the hub is killed. */
export interface Point {
  name: string
  /** The person's messages; each is sent after the answer to the one before. */
  says: string | readonly string[]
  /** The point in the hub's own process, or an observation from outside after which it is killed. */
  when: DieAt | ((world: World) => Promise<unknown>)
  /** Number of runs that end at this point; the default is one. */
  times?: number
  /** Prepares the world before the first start. */
  prepare?: (world: World) => void
  /** Checks more than the promises. */
  check?: (world: World) => string[]
}

/** Enough text to push the window over its threshold. */
const long = (id: string) =>
  [1, 2, 3, 4].map(number => `please answer ${id}.${number}\n${'word '.repeat(2_000).trim()}`)

/** Kill points in the order in which a message, its tool call and its answer pass them. */
export const POINTS: readonly Point[] = [
  {
    name: 'at the first start, before the schema is committed',
    says: 'please answer p0',
    when: { at: 'before commit', writing: 'create table threads' },
  },
  {
    name: 'before the commit of a post',
    says: 'please answer p1',
    when: { at: 'before commit', writing: 'insert into "inbox"' },
    check: replied(1),
  },
  {
    name: 'after the commit of a post',
    says: 'please answer p2',
    when: { at: 'after commit', writing: 'insert into "inbox"' },
    check: replied(1),
  },
  {
    name: 'before the acknowledgement to a client',
    says: 'please change p3',
    when: { at: 'before frame', writing: '"type":"accepted"' },
    check: once('change p3'),
  },
  {
    name: 'before the commit of the claim',
    says: 'please answer p4',
    when: { at: 'before commit', writing: 'insert into "cycles"' },
    check: replied(1),
  },
  {
    name: 'after the claim',
    says: 'please answer p5',
    when: { at: 'after commit', writing: 'insert into "cycles"' },
    check: replied(1),
  },
  {
    name: "during the model's stream",
    says: 'please answer p6',
    prepare: holdModel,
    when: pieceOfReply,
    check: replied(2),
  },
  {
    name: "during the model's stream, three times in a row",
    says: 'please answer p35',
    times: 3,
    prepare: holdModel,
    when: pieceOfReply,
    check: world => [...replied(3)(world), ...hasDeadLetter(world)],
  },
  {
    name: 'before `planned` is committed',
    says: 'please change p7',
    when: { at: 'before commit', writing: 'insert into "tool_calls"' },
    check: once('change p7'),
  },
  {
    name: 'after `planned`',
    says: 'please change p8',
    when: { at: 'after commit', writing: 'insert into "tool_calls"' },
    check: once('change p8'),
  },
  {
    name: 'after `started`, before the call',
    says: 'please change p9',
    when: { at: 'after commit', writing: 'update "tool_calls".*"started"' },
    check: hasStatus('unknown'),
  },
  {
    name: 'after the effect of a tool that changes something',
    says: 'please change p10',
    prepare: holdTools,
    when: effect,
    check: world => [...once('change p10')(world), ...hasStatus('unknown')(world)],
  },
  {
    name: 'after the effect of a tool that only reads',
    says: 'please look p11',
    prepare: holdTools,
    when: effect,
    check({ tools }) {
      const [first, again, ...more] = tools.effects.all.map(({ key }) => key)
      return first === again && more.length === 0
        ? []
        : ['It was not made again, once and under the same key']
    },
  },
  {
    name: 'before the result is committed',
    says: 'please change p12',
    when: { at: 'before commit', writing: 'update "tool_calls".*"ok"' },
    check: world => [...once('change p12')(world), ...hasStatus('unknown')(world)],
  },
  {
    name: 'after the result',
    says: 'please change p13',
    when: { at: 'after commit', writing: 'update "tool_calls".*"ok"' },
    check: world => [...once('change p13')(world), ...hasStatus('ok')(world)],
  },
  {
    name: "between a meta-tool's effect and its commit",
    says: 'please remember p14',
    when: { at: 'before commit', writing: 'insert into "context"' },
    check(world) {
      const rows = world.rows<{ value: string }>('select value from context')
      return rows.map(row => row.value).join() === 'p14' ? [] : ['It was not remembered']
    },
  },
  {
    name: 'before the commit of the answer',
    says: 'please answer p15',
    when: { at: 'before commit', writing: 'Answered: p15' },
    check: replied(2),
  },
  {
    name: 'after the commit of the answer, before it is shown',
    says: 'please answer p16',
    when: { at: 'after commit', writing: 'Answered: p16' },
    check: replied(1),
  },
  {
    name: 'while the summary of a compaction is written',
    says: long('p22'),
    prepare: holdSummaries,
    when: summary,
  },
  {
    name: 'before the commit of a compaction',
    says: long('p23'),
    when: { at: 'before commit', writing: 'insert into "sessions"' },
  },
  {
    name: 'after the commit of a compaction',
    says: long('p24'),
    when: { at: 'after commit', writing: 'insert into "sessions"' },
    check: hasSession,
  },
  {
    name: "before the commit of a schedule's firing",
    says: 'please wake p17',
    when: { at: 'before commit', writing: 'insert into "inbox".*"schedule"' },
  },
  {
    name: "after the commit of a schedule's firing",
    says: 'please wake p18',
    when: { at: 'after commit', writing: 'insert into "inbox".*"schedule"' },
  },
  {
    name: "during the second firing of an agent file's cron",
    says: 'please answer p19',
    prepare: world => world.setTicking(true),
    when: { at: 'before commit', writing: 'insert into "inbox".*"schedule"', times: 2 },
  },
  {
    name: "before the commit of a server's events",
    says: 'please answer p20',
    prepare: world => world.tools.raise('e20'),
    when: { at: 'before commit', writing: 'insert into "events"' },
  },
  {
    name: "after the commit of a server's events",
    says: 'please answer p21',
    prepare: world => world.tools.raise('e21'),
    when: { at: 'after commit', writing: 'insert into "events"' },
  },
]
