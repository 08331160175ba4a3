import type { World } from './world.ts'

/** Milliseconds that a point may take to be reached on a busy machine. */
const REACH_MS = 60_000

export const once = (what: string) => (world: World) => {
  const count = world.tools.effects.all.filter(({ tool, id }) => `${tool} ${id}` === what).length
  return count === 1 ? [] : [`${what} was done ${count} times`]
}

/**
 * Checks that the call ran once, or is marked unknown: a kill during a request leaves it unknown whether it
 * arrived.
 */
export const onceOrInDoubt = (what: string) => (world: World) => {
  const inDoubt = hasStatus('unknown')(world).length === 0
  const isUndone = world.tools.effects.all.every(({ tool, id }) => `${tool} ${id}` !== what)
  return inDoubt && isUndone ? [] : once(what)(world)
}

export const hasStatus = (status: string) => (world: World) => {
  const rows = world.rows<{ status: string }>("select status from tool_calls where tool = 'change'")
  const found = rows.map(row => row.status).join()
  return found === status ? [] : [`The call is ${found || 'not there'} and not ${status}`]
}

export const hasSession = ({ rows }: World) =>
  rows('select number from sessions').length > 0 ? [] : ['There is no session']

export const hasDeadLetter = ({ rows, person }: World) => {
  const { length } = rows("select id from dead_letters where status = 'open'")
  const wasTold = person.shown.all.some(({ kind }) => kind === 'error')
  return length === 1 && wasTold ? [] : [`${length} dead letters, told: ${wasTold}`]
}

export const replied = (times: number) => (world: World) => {
  const { length } = world.provider.replies.all
  return length === times ? [] : [`The model was asked ${length} times and not ${times}`]
}

export const holdModel = (world: World) => {
  world.provider.holds = () => true
}
export const holdSummaries = (world: World) => {
  world.provider.holds = ({ kind }) => kind === 'summary'
}
export const holdTools = (world: World) => {
  world.tools.hold = true
}

// The provider's record is used because the person may reconnect only after the piece was streamed.
export const pieceOfReply = ({ provider: { replies } }: World) =>
  replies.find('a piece of the reply', () => true, replies.all.length, REACH_MS)
export const summary = ({ provider: { replies } }: World) =>
  replies.find('a summary', ({ kind }) => kind === 'summary', replies.all.length, REACH_MS)
export const effect = ({ tools: { effects } }: World) =>
  effects.find('the effect', () => true, effects.all.length, REACH_MS)
export const asked = ({ person: { frames } }: World) =>
  frames.find('the question', frame => frame.type === 'approval', frames.all.length, REACH_MS)
export const accepted = ({ person: { frames } }: World) =>
  frames.find('the acknowledgement', frame => frame.type === 'accepted', frames.all.length, REACH_MS)
export const answered = ({ person: { shown } }: World) =>
  shown.find('the answer', ({ kind }) => kind === 'agent', 0, REACH_MS)
