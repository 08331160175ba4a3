import { within } from '../support/until.ts'
import type { Member } from './member.ts'
import { PATIENCE_MS, type Trio } from './trio.ts'

/** A fault of one hub or of the database. */
export interface Way {
  name: string
  /** Does it to the hub that leads; resolves with the milliseconds until another one led, if one has to. */
  happen(trio: Trio, leader: Member): Promise<number | undefined>
  /** True if the hub that leads may be stopped between two statements, which is no time for more than one thread. */
  isPaused?: boolean
}

/** Makes the leader unable to lead, waits for another hub, and lets the first one come back. */
async function follow(
  { leads }: Trio,
  leader: Member,
  { fault, mend = () => undefined }: { fault: () => unknown; mend?: () => unknown },
): Promise<number> {
  leader.isHeld = true
  const from = leads.all.length
  const began = performance.now()
  await fault()
  await leads.find('another hub leads', each => each !== leader, from, PATIENCE_MS)
  const took = performance.now() - began
  await mend()
  return took
}

/** Waits for the end of a hub that another one follows, and starts it again. */
async function comeBack(
  leader: Member,
  isRight: (ending: { code: number | null; stderr: string }) => boolean,
) {
  const ending = await within(`the end of the hub at ${leader.name}`, leader.ended(), PATIENCE_MS)
  if (!isRight(ending)) throw new Error(`It ended with ${ending.code}: ${ending.stderr}`)
  await leader.start()
}

const tellsLoss = ({ code, stderr }: { code: number | null; stderr: string }) =>
  code === 1 && /This hub stores nothing any more and ends/.test(stderr)

async function cutCommit({ person, provider }: Trio, { link }: Member, when: 'before' | 'after') {
  const cut = link.cut('commit', when)
  person.say('gamma', `please change cut-${provider.requests.length}`)
  await within('a commit is cut', cut, PATIENCE_MS)
  return undefined
}

/** Every way, such that long ones and short ones alternate. */
export const WAYS: readonly Way[] = [
  {
    name: 'SIGKILL',
    async happen(trio, leader) {
      const took = await follow(trio, leader, { fault: () => leader.signal('SIGKILL') })
      await comeBack(leader, () => true)
      return took
    },
  },
  {
    name: 'a commit cut before the server has it',
    happen: (trio, leader) => cutCommit(trio, leader, 'before'),
  },
  {
    name: 'SIGSTOP for longer than the lease',
    isPaused: true,
    async happen(trio, leader) {
      const took = await follow(trio, leader, {
        fault: () => leader.signal('SIGSTOP'),
        mend: () => leader.signal('SIGCONT'),
      })
      await comeBack(leader, tellsLoss)
      return took
    },
  },
  {
    name: 'SIGTERM',
    async happen(trio, leader) {
      const took = await follow(trio, leader, { fault: () => leader.signal('SIGTERM') })
      await comeBack(leader, ({ code }) => code === 0)
      return took
    },
  },
  {
    name: 'a network that loses everything',
    async happen(trio, leader) {
      const took = await follow(trio, leader, {
        fault: () => leader.link.hush(true),
        mend: () => leader.link.hush(false),
      })
      await comeBack(leader, tellsLoss)
      return took
    },
  },
  {
    name: 'every connection cut once',
    async happen(_trio, leader) {
      leader.link.cutAll()
      return undefined
    },
  },
  {
    name: 'a database that cannot be reached',
    async happen(trio, leader) {
      const took = await follow(trio, leader, {
        fault() {
          leader.link.refuse(true)
          leader.link.cutAll()
        },
        mend: () => leader.link.refuse(false),
      })
      await comeBack(leader, tellsLoss)
      return took
    },
  },
  { name: 'a commit cut before its answer', happen: (trio, leader) => cutCommit(trio, leader, 'after') },
  {
    name: 'all killed, and started at once',
    async happen({ members, leads }) {
      const from = leads.all.length
      for (const member of members) member.isHeld = true
      const began = performance.now()
      await Promise.all(members.map(member => member.signal('SIGKILL')))
      await Promise.all(members.map(member => member.ended()))
      await Promise.all(members.map(member => member.start()))
      await leads.find('one leads', () => true, from, PATIENCE_MS)
      return performance.now() - began
    },
  },
  {
    name: 'PostgreSQL started again',
    async happen({ server }) {
      server.stop()
      server.start()
      return undefined
    },
  },
]
