import type { ModelFinding } from '../../schemas/model-choice.ts'
import type { Clock } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'
import { type Model, ModelError, type ModelMessage, type ModelReply, type ModelTool } from '../core/model.ts'
import { plural, truncate } from '../core/text.ts'
import { decideCut } from './decide-cut.ts'
import { adviseContext, adviseTools, type LocalServer, type Reported } from './local-servers.ts'

export interface TrialOptions {
  /** System prompt with which every request of the agent begins. */
  system: string
  tools: readonly ModelTool[]
  timezone: string
  /** Estimates the tokens of a text. */
  estimate: (text: string) => number
  /** The provider's report about the model; `server` is the program that runs it. */
  reported?: Reported | undefined
  server?: LocalServer | undefined
  clock: Clock
  signal: AbortSignal
}

/** The tool that the trial offers where the agent has no read-only tool without required arguments. */
const STAND_IN: ModelTool = {
  name: 'get_trial_word',
  description: 'Tells the word of the trial.',
  inputSchema: { type: 'object', properties: {} },
  readOnly: true,
}

const WORD = 'heron'
const SHOWN = 120
/** Factor by which an estimate may exceed the provider's count. */
const DOUBTFUL = 2
/** Factor by which an agent's context should exceed its first request, to leave room for a history. */
const SPARE = 1.5
/** A result as long as those of real tools, so that a cut shows: the server's count does not grow by it. */
const RESULT = `The word of the trial is "${WORD}". The rest is only there to be long.\n${Array.from({ length: 150 }, (_, index) => `line ${index + 1}: nothing to see`).join('\n')}`

interface Trial {
  model: Model
  options: TrialOptions
  tools: ModelTool[]
  /** Number of times that text came. */
  pieces: number
}

/**
 * Tries a model with a request as agents send it: their prompt, all their tools, a call, the turn after its
 * result. No tool runs: the result is made up. Throws only the signal's reason and what is no answer of the
 * provider.
 */
export async function tryModel(model: Model, options: TrialOptions): Promise<ModelFinding[]> {
  const tool = options.tools.find(isHarmless) ?? STAND_IN
  const tools = options.tools.includes(tool) ? [...options.tools] : [...options.tools, tool]
  const trial: Trial = { model, options, tools, pieces: 0 }
  const found = compareSizes(trial)
  const question: ModelMessage = {
    role: 'user',
    text: `This is a trial of whether you can work here. Call the tool ${tool.name} now, once, with no arguments. Its result has a word. Then answer with three short sentences, the first of which has this word.`,
    items: [],
  }
  const begun = await ask(trial, [question])
  // A server that closed an idle connection as it was used again is asked anew.
  const first = isLost(begun) ? await ask(trial, [question]) : begun
  if (first instanceof ModelError) return [...found, ...(await describeRefusal(trial, question, first))]
  const problem = decideCall(first, tools)
  if (problem !== undefined) {
    const cut = describeCount(trial, [question], first)
    return [...found, ...cut, { level: 'problem', what: `${problem} ${adviseTools(options.server)}` }]
  }
  found.push({ level: 'ok', what: `calls tools: ${plural(tools.length, 'tool')} were offered` })
  const answered: ModelMessage[] = [
    question,
    { role: 'assistant', text: first.text, calls: first.calls, thinking: first.thinking },
    ...first.calls.map(
      ({ id, name }): ModelMessage => ({ role: 'tool', callId: id, name, text: RESULT, isError: false }),
    ),
  ]
  const second = await ask(trial, answered)
  if (second instanceof ModelError) {
    return [...found, { level: 'problem', what: `refuses the turn after a tool's result: ${second.message}` }]
  }
  return [
    ...found,
    decideAnswer(second),
    ...describeStream(trial, second),
    ...describeCount(trial, [question], first, { messages: answered, reply: second }),
  ]
}

function isLost(answer: ModelReply | ModelError): boolean {
  return answer instanceof ModelError && answer.kind === 'network'
}

function isHarmless({ readOnly, inputSchema }: ModelTool): boolean {
  const { required } = inputSchema
  return readOnly === true && !(Array.isArray(required) && required.length > 0)
}

async function ask(trial: Trial, messages: ModelMessage[]): Promise<ModelReply | ModelError> {
  const { model, options, tools } = trial
  const { system, timezone, clock, signal } = options
  try {
    return await model.complete(
      { system, messages, tools, maxOutput: model.maxOutput, timezone, now: clock.now() },
      { signal, onText: () => void trial.pieces++ },
    )
  } catch (error) {
    if (signal.aborted || !(error instanceof ModelError)) throw error
    return error
  }
}

/** Compares the reported sizes with what a request needs, before anything is asked. */
function compareSizes({ model, options, tools }: Trial): ModelFinding[] {
  const { reported: { context, tools: callsTools } = {}, server } = options
  const needed = countTokens(options, tools, []) + model.maxOutput
  const found: ModelFinding[] = []
  if (context !== undefined && context < Math.max(needed, model.context)) {
    const why =
      context < needed
        ? `the prompt and ${plural(tools.length, 'tool')} with a reply need about ${needed}`
        : `the hub sends up to ${model.context}`
    const what = `runs with a context of ${context} tokens, and ${why}. ${adviseContext(server, Math.max(needed * SPARE, model.context))}`
    found.push({ level: context * DOUBTFUL < needed ? 'problem' : 'warning', what })
  }
  if (callsTools === false)
    found.push({ level: 'warning', what: `is said not to call tools. ${adviseTools(server)}` })
  return found
}

function countTokens(
  { system, estimate }: TrialOptions,
  tools: ModelTool[],
  messages: ModelMessage[],
): number {
  const said = messages.map(
    message => `${message.text}${'calls' in message ? JSON.stringify(message.calls) : ''}`,
  )
  return estimate(system) + estimate(JSON.stringify(tools)) + estimate(said.join('\n'))
}

/** Describes a refusal, and finds out whether the tools are its cause. */
async function describeRefusal(
  trial: Trial,
  question: ModelMessage,
  error: ModelError,
): Promise<ModelFinding[]> {
  const { options, tools } = trial
  const advice =
    error.kind === 'overflow'
      ? ` ${adviseContext(options.server, countTokens(options, tools, [question]) * SPARE)}`
      : ''
  const refusal: ModelFinding = {
    level: 'problem',
    what: `gives no answer. ${describeError(error)}${advice}`,
  }
  if (error.kind !== 'rejected' && error.kind !== 'server') return [refusal]
  const bare = await ask({ ...trial, tools: [] }, [{ ...question, text: 'Say hello.' }])
  if (bare instanceof ModelError) return [refusal]
  const what = `answers, but not when it is offered ${plural(tools.length, 'tool')}. ${adviseTools(options.server)}`
  return [refusal, { level: 'problem', what }]
}

/** Returns what is wrong with the call, or undefined. */
function decideCall({ calls, text, truncated }: ModelReply, tools: readonly ModelTool[]): string | undefined {
  const [call] = calls
  if (!call && truncated) return 'used up its reply before it called the tool: raise maxOutput.'
  if (!call && text.trim() === '') return 'answered nothing at all.'
  if (!call) return `answered with text in place of a call: "${truncate(text, SHOWN)}"`
  if (!tools.some(({ name }) => name === call.name))
    return `called "${truncate(call.name, SHOWN)}", which it was not offered.`
  const args = call.arguments.trim() === '' ? {} : parseJson(call.arguments)
  const isObject = typeof args === 'object' && args !== null && !Array.isArray(args)
  return isObject ? undefined : `wrote arguments that are no JSON object: ${truncate(call.arguments, SHOWN)}`
}

function decideAnswer({ text, calls }: ModelReply): ModelFinding {
  if (text.toLowerCase().includes(WORD)) return { level: 'ok', what: "reads tools' results" }
  if (calls.length > 0)
    return {
      level: 'warning',
      what: 'calls a tool again in place of reading its result: it may go in circles',
    }
  const said = text.trim() === '' ? 'with nothing' : `"${truncate(text, SHOWN)}"`
  return { level: 'warning', what: `answers a tool's result ${said}, which shows nothing of it` }
}

/** Characters from which a reply should be streamed; a shorter one may come in one piece. */
const LONG = 100

function describeStream({ pieces }: Trial, { text }: ModelReply): ModelFinding[] {
  if (pieces > 1) return [{ level: 'ok', what: 'streams its reply' }]
  if (text.length < LONG) return []
  const what = 'sends its reply in one piece: people see nothing until all of it is there'
  return [{ level: 'warning', what }]
}

/** Tells whether the server read the whole request, as far as its count shows. */
function describeCount(
  { options, tools }: Trial,
  asked: ModelMessage[],
  first: ModelReply,
  later?: { messages: ModelMessage[]; reply: ModelReply },
): ModelFinding[] {
  const input = first.usage?.input
  const last = later ? later.reply.usage?.input : input
  if (input === undefined || last === undefined) {
    const what =
      'does not say how many tokens it read: the hub estimates them, and cannot see whether it cuts requests'
    return [{ level: 'warning', what }]
  }
  const estimate = countTokens(options, tools, asked)
  const second = later && { estimate: countTokens(options, tools, later.messages), input: last }
  const cut = decideCut({ estimate, input }, second)
  if (cut === 'whole') return [{ level: 'ok', what: `reads the whole request: ${last} tokens` }]
  const sent = second?.estimate ?? estimate
  const advice = adviseContext(options.server, sent * SPARE)
  if (cut === 'unclear') {
    const what = `counts ${input} tokens of about ${estimate}: it may cut requests. ${advice}`
    return [{ level: 'warning', what }]
  }
  const what = `cuts what it is sent: it counts ${cut.at} tokens of about ${sent}. ${advice}`
  return [{ level: 'problem', what }]
}
