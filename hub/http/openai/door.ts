import express, { type Request, type RequestHandler, type Response, Router } from 'express'
import type { ChatMessage } from '../../../schemas/chat.ts'
import type { Clock } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import type { Log } from '../../core/log.ts'
import type { Principal } from '../../core/principal.ts'
import type { Signals } from '../../core/signals.ts'
import { cyclesOfMessage } from '../../store/cycles.ts'
import type { Store } from '../../store/open.ts'
import { bearerOf, type Doors } from '../doors.ts'
import type { McpDoorDeps } from '../mcp-door.ts'
import { createRoom } from '../room.ts'
import { openTextStream, type TextStream, toCompletion, type Usage } from './answer.ts'
import { type Completion, readCompletion } from './request.ts'

/** The outcome of a message to an agent, as `hub_chat` returns it. */
interface Outcome {
  status: 'replied' | 'pending' | 'waiting' | 'silent' | 'failed'
  conversation: string
  reply?: string | undefined
  structured?: Record<string, unknown> | undefined
}

export interface OpenAiDoorDeps extends Pick<McpDoorDeps, 'mayPass' | 'hold'> {
  doors: Pick<Doors, 'admit' | 'addressOf'>
  openai: {
    clock: Clock
    log: Log
    signals: Signals
    store: Pick<Store, 'db'>
    agents(principal: Principal): Promise<string[]>
    post(
      principal: Principal,
      to: Pick<Completion, 'agent' | 'chat'>,
      said: Completion['said'],
    ): Promise<ChatMessage>
    waitForAnswer(message: ChatMessage, wait: number, signal: AbortSignal): Promise<Outcome>
  }
}

const ENTRY = { door: 'OpenAI API at /v1', right: 'chat' } as const
/** Bytes of a body: each request brings the pictures of the whole chat again. */
const LARGEST_BODY = 8 * 1024 * 1024
/** Milliseconds until an answer is given as it is; Open WebUI gives up after 300 s. */
const LONGEST_WAIT = 240_000
const KEEP_ALIVE_MS = 15_000

export function isForOpenAi(path: string): boolean {
  return /^\/v1(?:\/|$)/i.test(path)
}

/** Creates `GET /v1/models` and `POST /v1/chat/completions`: each agent is a model of an OpenAI-compatible API. */
export function createOpenAiDoor(deps: OpenAiDoorDeps): RequestHandler {
  const { doors, mayPass, hold, openai } = deps
  const router = Router()
  const admit: RequestHandler = (request, response, next) => {
    const caller = doors.admit(request, bearerOf(request), ENTRY)
    if (!mayPass(caller))
      throw new HubError('rate_limited', `${ENTRY.door}: too many requests at once; slow down.`)
    response.once(
      'close',
      hold(caller, () => response.destroy()),
    )
    response.locals['caller'] = caller
    next()
  }
  router.get('/v1/models', admit, async (_request, response) => {
    const names = await openai.agents(callerOf(response))
    const data = names.map(id => ({ id, object: 'model', created: 0, owned_by: 'superbloom' }))
    response.json({ object: 'list', data })
  })
  const room = createRoom(openai.clock, doors.addressOf)
  const enter: RequestHandler = (request, response, next) => {
    room.enter(request, response)
    next()
  }
  const json = express.json({ type: () => true, limit: LARGEST_BODY, inflate: false })
  router.post('/v1/chat/completions', admit, enter, json, async (request: Request, response: Response) => {
    const asked = readCompletion(request, request.body)
    if (asked.own === undefined) return answer(openai, asked, response)
    const head = { id: 'chatcmpl-none', created: toSeconds(openai.clock.now()), model: asked.agent }
    if (asked.isStreamed) openTextStream(response, head).end(asked.own, asked.wantsUsage ? NO_USE : undefined)
    else response.json(toCompletion(head, asked.own, NO_USE))
  })
  return router
}

function callerOf(response: Response): Principal {
  return response.locals['caller'] as Principal
}

const NO_USE: Usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }

function toSeconds(at: number): number {
  return Math.floor(at / 1000)
}

/** Gives the message to the agent, which works on when the client goes away, and answers with the reply. */
async function answer(
  deps: OpenAiDoorDeps['openai'],
  { agent, chat, said, isStreamed, wantsUsage }: Completion,
  response: Response,
): Promise<void> {
  const message = await deps.post(callerOf(response), { agent, chat }, said)
  const head = { id: `chatcmpl-${message.id}`, created: toSeconds(message.at), model: agent }
  const left = new AbortController()
  response.once('close', () => left.abort())
  // The client may have gone away while the message was written.
  if (response.destroyed) left.abort()
  const stream = isStreamed ? openTextStream(response, head) : undefined
  const unfollow = stream && follow(deps, message, { stream, isShown: said.schema === undefined })
  try {
    const outcome = await deps.waitForAnswer(message, LONGEST_WAIT, left.signal)
    const usage = await readUsage(deps, message)
    if (response.destroyed) return
    if (stream) stream.end(toText(outcome), wantsUsage ? usage : undefined)
    else response.json(toCompletion(head, toText(outcome), usage))
  } finally {
    unfollow?.()
  }
}

/** Shows what the agent says as it says it, until the returned function is called. */
function follow(
  { clock, signals, store, log }: OpenAiDoorDeps['openai'],
  { id, conversation }: ChatMessage,
  { stream, isShown }: { stream: TextStream; isShown: boolean },
): () => void {
  let step = { cycle: '', said: '', isOurs: false }
  const begin = (cycle: string) => {
    if (step.isOurs) stream.part()
    step = { cycle, said: '', isOurs: false }
    return step
  }
  /** Shows a step's text once its cycle is known to answer the message, and not another one. */
  const look = async (begun: typeof step) => {
    const cycles = await cyclesOfMessage(store.db, id)
    if (step !== begun || !cycles.some(cycle => cycle.id === begun.cycle)) return
    step.isOurs = true
    stream.show(step.said)
  }
  const onDelta = (cycle: string, text: string) => {
    const begun = step.cycle === cycle ? undefined : begin(cycle)
    step.said += text
    if (step.isOurs) stream.show(step.said)
    // The reply brings what is not shown.
    if (begun) look(begun).catch(error => log.warn('text_not_shown', { error }))
  }
  const keepAlive = () => {
    stream.keepAlive()
    cancel = clock.after(KEEP_ALIVE_MS, keepAlive)
  }
  let cancel = clock.after(KEEP_ALIVE_MS, keepAlive)
  const offs = [
    signals.on('delta', ({ conversation: where, cycle, text }) => {
      if (where === conversation && isShown) onDelta(cycle, text)
    }),
    signals.on('tool', ({ conversation: where }) => {
      if (where === conversation) begin('')
    }),
  ]
  return () => {
    step = { cycle: '', said: '', isOurs: false }
    for (const off of [...offs, cancel]) off()
  }
}

async function readUsage({ store }: OpenAiDoorDeps['openai'], { id }: ChatMessage): Promise<Usage> {
  const cycles = await cyclesOfMessage(store.db, id)
  const prompt = cycles.reduce((sum, { input_tokens }) => sum + (input_tokens ?? 0), 0)
  const output = cycles.reduce((sum, { output_tokens }) => sum + (output_tokens ?? 0), 0)
  return { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output }
}

/** Returns the reply, with what a person has to know where it is not all. */
function toText({ status, reply, structured, conversation }: Outcome): string {
  if (structured) return JSON.stringify(structured)
  const notes: Partial<Record<Outcome['status'], string>> = {
    pending: `(I am still at work. The answer comes in the conversation ${conversation} of the hub; ask me for it later.)`,
    waiting:
      "(This waits: something needs a person's yes on the hub's page, or cannot begin or go on yet. I work on by myself then; ask me for the outcome later.)",
  }
  const whole = [reply, notes[status]].filter(each => each !== undefined).join('\n\n')
  return whole === '' ? `(${status}: there is no text)` : whole
}
