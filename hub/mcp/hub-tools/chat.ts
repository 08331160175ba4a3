import { z } from 'zod'
import { type ChatMessage, messageText } from '../../../schemas/chat.ts'
import { conversationId, name } from '../../../schemas/names.ts'
import { pictures } from '../../../schemas/picture.ts'
import { zoneName } from '../../../schemas/timezone.ts'
import { answerSchema } from '../../core/answer-schema.ts'
import { HubError } from '../../core/errors.ts'
import { checkUse, conversationOf, powerOf } from '../../core/principal.ts'
import { openApprovalsOf } from '../../store/approvals.ts'
import { messagesOfCycle, noticeTo } from '../../store/conversations.ts'
import { cyclesOfMessage } from '../../store/cycles.ts'
import { type HubToolDeps, meantAgent, takesConversation } from './deps.ts'
import { defineHubTool, type HubToolContext } from './hub-tool.ts'

const LONGEST_WAIT = 600

const output = z.object({
  conversation: z.string(),
  status: z
    .enum(['replied', 'pending', 'waiting', 'silent', 'failed'])
    .describe(
      "pending: the agent still works; waiting: something of it needs a person's yes, or it cannot begin or go on yet and the reply says why. Read what comes later with hub_read_messages",
    ),
  reply: z.string().optional(),
  structured: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('the reply as data, where a schema was given; of a later reply data.structured of its message'),
  structuredError: z.string().optional().describe('why there is none'),
  messageId: z.string(),
})
export type ChatResult = z.infer<typeof output>

export const chat = defineHubTool({
  name: 'hub_chat',
  title: 'Talk to an agent',
  description:
    'Sends a message to a persistent agent of the hub and waits for its reply. The agent has tools, memory and schedules of its own and works on after the reply.',
  input: z.strictObject({
    agent: name.optional().describe('default: homelab, else the first'),
    message: messageText,
    conversation: conversationId.optional().describe('default: one of your own with this agent'),
    waitSeconds: z.number().min(0).max(LONGEST_WAIT).default(45),
    idempotencyKey: z.string().min(1).max(200).optional().describe('the same key again sends nothing twice'),
    timezone: zoneName.optional().describe('IANA zone of who asks: times are meant in it'),
    images: pictures.optional().describe('pictures beside the message, base64'),
    schema: answerSchema
      .optional()
      .describe('a JSON schema of type object, at most 8 KB: the reply is to be JSON that fits it'),
  }),
  output,
  effect: 'adds',
  right: 'chat',
  async run(args, context) {
    const { deps, principal, trace } = context
    const conversation = await meantConversation(context, args)
    checkUse(deps.mayUse, principal, conversation)
    const message = await deps.postMessage({
      conversation,
      text: args.message,
      author: principal.name,
      power: powerOf(principal),
      door: 'mcp',
      clientId: args.idempotencyKey,
      images: args.images,
      timezone: args.timezone,
      schema: args.schema,
      trace,
    })
    const result = await waitForAnswer(context, message, args.waitSeconds * 1000)
    return args.schema ? withReason(result) : result
  },
  toText: ({ reply, status, structuredError }) =>
    [reply ?? `(${status})`, ...(structuredError ? [`(${structuredError})`] : [])].join('\n\n'),
})

/**
 * Returns the message's conversation. Throws if the named agent does not answer there: no other agent may get
 * the message.
 */
async function meantConversation(
  context: HubToolContext,
  { agent: named, conversation }: { agent?: string | undefined; conversation?: string | undefined },
): Promise<string> {
  if (conversation !== undefined && named === undefined) return conversation
  const agent = await meantAgent(context, named)
  if (conversation === undefined) return conversationOf(agent.name, context.principal)
  // For a retired agent, `postMessage` says what to do.
  if (agent.status === 'retired' || takesConversation(agent, conversation)) return conversation
  throw new HubError(
    'invalid_arguments',
    `hub_chat: ${agent.name} does not answer in ${conversation}; its conversations: ${[...agent.conversations, `${agent.name}/<slug>`].join(', ')}. Leave one of the two away.`,
  )
}

/** Adds why there is no data, if the caller asked for data. */
function withReason(result: ChatResult): ChatResult {
  const { status, structured, structuredError } = result
  if (status === 'pending' || status === 'waiting' || structured || structuredError) return result
  return { ...result, structuredError: 'The agent gave no answer to check.' }
}

type Waiting = Pick<HubToolContext, 'deps' | 'signal' | 'progress'>

type Taken = Pick<ChatResult, 'conversation' | 'messageId'>

/**
 * Resolves when the cycle that took the message has ended or the hub itself answered it, after `wait`
 * milliseconds, or when the caller went away.
 */
export async function waitForAnswer(
  context: Waiting,
  { conversation, id: messageId }: ChatMessage,
  wait: number,
): Promise<ChatResult> {
  const { deps, signal } = context
  const finished = Promise.withResolvers<ChatResult>()
  const pending: ChatResult = { conversation, messageId, status: 'pending' }
  const look = () => {
    readOutcome(deps, { conversation, messageId }).then(
      outcome => outcome && finished.resolve(outcome),
      finished.reject,
    )
  }
  const offs = [
    deps.signals.on('cycleEnded', look),
    deps.signals.on('tool', ({ conversation: where, call }) => {
      if (where !== conversation) return
      context.progress(
        `${call.tool}: ${call.summary && call.status === 'started' ? call.summary : call.status}`,
      )
    }),
    deps.signals.on('message', ({ kind, inReplyTo }) => {
      if (kind === 'notice' && inReplyTo?.includes(messageId)) look()
    }),
    deps.signals.on('held', ({ messages, why }) => {
      if (messages.includes(messageId))
        finished.resolve({ conversation, messageId, status: 'waiting', reply: why })
    }),
    deps.clock.after(wait, () => finished.resolve(pending)),
  ]
  const giveUp = () => finished.resolve(pending)
  signal.addEventListener('abort', giveUp, { once: true })
  // The caller may have gone away while the message was written.
  if (signal.aborted) giveUp()
  look()
  try {
    return await finished.promise
  } finally {
    for (const off of offs) off()
    signal.removeEventListener('abort', giveUp)
  }
}

/** Reads the outcome of a message; undefined while a cycle that takes it runs. */
async function readOutcome(deps: HubToolDeps, what: Taken): Promise<ChatResult | undefined> {
  const { conversation, messageId } = what
  const cycles = await cyclesOfMessage(deps.store.db, messageId)
  // The hub itself took a message that is in no inbox: a command.
  if (cycles.length === 0)
    return (await readNotice(deps, what, 'replied')) ?? { conversation, messageId, status: 'silent' }
  if (cycles.every(({ id }) => id === null)) return readNotice(deps, what, 'waiting')
  const unfinished = cycles.filter(({ status }) => status === null || status === 'running')
  if (unfinished.length > 0) {
    // The note of a cycle that goes on later says why.
    const [why] = unfinished.every(({ note }) => note !== null) ? unfinished : []
    return why && { conversation, messageId, status: 'waiting', reply: why.note ?? '' }
  }
  const all = await Promise.all(cycles.map(({ id }) => messagesOfCycle(deps.store.db, id ?? '')))
  const said = all.flat().filter(message => message.conversation === conversation)
  // A text that the cycle said before it took this message answers another one.
  const answers = said.filter(({ kind, inReplyTo }) => kind === 'agent' && inReplyTo?.includes(messageId))
  const others = said.filter(message => message.kind === 'notice' || message.kind === 'error').slice(-1)
  const hasFailed = cycles.every(({ status: end }) => end === 'failed' || end === 'dead')
  // A reply that a limit cut is not whole: the notice says why.
  const told = hasFailed || answers.length === 0 ? [...answers, ...others] : answers
  const reply = told.map(message => message.text).join('\n\n')
  const open = await Promise.all(cycles.map(({ thread }) => openApprovalsOf(deps.store.db, thread)))
  // A notice with `emptyReply` says that the model gave nothing to tell.
  const isUnanswered =
    answers.length === 0 &&
    (cycles.every(({ status: end }) => end === 'stopped') ||
      others.some(({ data }) => data?.['emptyReply'] === true))
  const waits = open.flat().some(approval => cycles.some(({ id }) => id === approval.cycle_id))
  const came = waits ? 'waiting' : reply === '' ? 'silent' : 'replied'
  // The newest agent message that was checked has the data.
  const checked = answers.map(({ data }) => checkedData.safeParse(data)).findLast(({ success }) => success)
  return {
    conversation,
    messageId,
    status: hasFailed || isUnanswered ? 'failed' : came,
    ...(reply === '' ? {} : { reply }),
    ...checked?.data,
  }
}

const checkedData = z.union([
  output.pick({ structured: true }).required(),
  output.pick({ structuredError: true }).required(),
])

/** Reads the notice that answers a message which no cycle takes, or says why none takes it for now. */
async function readNotice(
  deps: HubToolDeps,
  { conversation, messageId }: Taken,
  status: 'replied' | 'waiting',
): Promise<ChatResult | undefined> {
  const notice = await noticeTo(deps.store.db, conversation, messageId)
  return notice && { conversation, messageId, status, reply: notice.text }
}
