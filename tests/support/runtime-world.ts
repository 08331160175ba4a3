import { combineSources } from '../../hub/core/due.ts'
import { createIds } from '../../hub/core/ids.ts'
import { createLog } from '../../hub/core/log.ts'
import type { Model, Price } from '../../hub/core/model.ts'
import { createSignals, type SignalMap } from '../../hub/core/signals.ts'
import { createTelemetry } from '../../hub/core/telemetry.ts'
import { givesMetaTool, givesTool } from '../../hub/core/tool-access.ts'
import type { ServerCallOptions, ToolBox, ToolOutcome } from '../../hub/core/tool-box.ts'
import { createMetaTools } from '../../hub/meta-tools/index.ts'
import { fitTool } from '../../hub/meta-tools/meta-tool.ts'
import { createChain } from '../../hub/model/chain.ts'
import { decidePolicy, type PolicyRules } from '../../hub/policy/policy.ts'
import { applyAgentFiles, type FileAgent } from '../../hub/runtime/agent-files.ts'
import { createApprovals } from '../../hub/runtime/approvals.ts'
import type { Budget, RuntimeAgent } from '../../hub/runtime/deps.ts'
import { createReset, type ResetRequest } from '../../hub/runtime/reset.ts'
import { createRouter } from '../../hub/runtime/router.ts'
import { createRuntime } from '../../hub/runtime/runtime.ts'
import { createSemaphore } from '../../hub/runtime/semaphore.ts'
import { closeQuestions } from '../../hub/store/approvals.ts'
import { voidLeases } from '../../hub/store/threads.ts'
import type { Tx } from '../../hub/store/writer.ts'
import type { ChatMessage } from '../../schemas/chat.ts'
import type { EventListed } from '../../schemas/inbox.ts'
import type { ToolFacts } from '../../schemas/power.ts'
import { createFakeClock } from './fake-clock.ts'
import { type Death, makeMortal } from './mortal.ts'
import { createScriptedModel } from './scripted-model.ts'
import { openTempStore } from './temp-store.ts'
import { server } from './test-database.ts'
import { createRecord, until } from './until.ts'

export interface WorldAgent extends RuntimeAgent {
  events: EventListed[]
  schedules: FileAgent['schedules']
  shared: boolean
}

/** A tool of a server that does not exist. */
export interface StubTool {
  name: string
  repeatable?: boolean
  reads?: boolean
  /** True if a repetition may do harm; by default a tool is neither this, repeatable nor read-only. */
  destructive?: boolean
  /** True if its server declares it destructive. */
  destroys?: boolean
  /** Default true. */
  samples?: boolean
  description?: string
  /** What the policy knows of it beside that; default the operator's own tool, which changes something. */
  facts?: Partial<ToolFacts>
  run(args: Record<string, unknown>, options: ServerCallOptions): ToolOutcome | Promise<ToolOutcome>
}

type AgentOptions = Omit<Partial<WorldAgent>, 'limits'> & { limits?: Partial<WorldAgent['limits']> }

export interface WorldOptions {
  agents?: AgentOptions[]
  tools?: StubTool[]
  concurrency?: number
  /** Resolves once a starting server's tool is listed, or will never be. */
  starting?: (name: string) => Promise<void>
  /** The policy's rules of the config. */
  rules?: Partial<PolicyRules>
  model?: { context?: number; maxOutput?: number; price?: Price }
  budget?: Partial<Budget>
  /** A model that writes the summaries instead of the agent's model. */
  summaries?: Model
}

/** Starts the runtime and runs `live`; after the kill it starts again and runs `live` to its end. */
export async function liveTwice(
  world: World,
  death: Death,
  live: (world: World) => Promise<unknown>,
): Promise<void> {
  await world.start(death)
  const lived = await Promise.race([live(world).then(() => true), world.died.then(() => false)])
  if (lived) return
  await world.start()
  await live(world)
}

const ZONE = 'Europe/Berlin'

export function makeAgent(agent: AgentOptions = {}): WorldAgent {
  const name = agent.name ?? 'homelab'
  return {
    name,
    prompt: 'You look after the homelab.',
    tools: ['*'],
    model: 'default',
    approve: [],
    grants: [],
    conversations: [name],
    events: [],
    schedules: [],
    shared: false,
    ...agent,
    limits: { steps: 30, minutes: 10, tokens: 600_000, tasks: 5, ...agent.limits },
  }
}

type Parts = Awaited<ReturnType<typeof createParts>>
type Life = ReturnType<typeof createLife>
export type World = Awaited<ReturnType<typeof openWorld>>

async function createParts(options: WorldOptions) {
  return {
    store: await openTempStore(),
    clock: createFakeClock(),
    model: createScriptedModel([], options.model),
    /** The model of a changed config, which replaces the first one. */
    changed: { model: undefined as Model | undefined },
    summaries: options.summaries,
    agents: new Map((options.agents ?? [{}]).map(makeAgent).map(agent => [agent.name, agent])),
    tools: new Map((options.tools ?? []).map(tool => [tool.name, tool])),
    concurrency: options.concurrency ?? 8,
    starting: options.starting,
    rules: { approve: [], allow: [], deny: [], classes: {}, ...options.rules },
    budget: { ...options.budget },
    seen: {
      messages: createRecord<ChatMessage>(),
      ended: createRecord<SignalMap['cycleEnded']>(),
      deltas: createRecord<SignalMap['delta']>(),
      calls: createRecord<SignalMap['tool']>(),
      states: createRecord<SignalMap['agent']>(),
      rests: createRecord<SignalMap['idle'] & { isActive: boolean }>(),
      approvals: createRecord<SignalMap['approval']>(),
      schedules: createRecord<SignalMap['schedules']>(),
      log: createRecord<Record<string, unknown>>(),
    },
  }
}

/**
 * Opens the runtime with its router and meta-tools on a real store, with a fake clock, a scripted model and
 * stub tools.
 */
export async function openWorld(options: WorldOptions = {}) {
  const parts = await createParts(options)
  const { store, clock, agents } = parts
  let life: Life | undefined
  const current = () => {
    if (!life) throw new Error('Nobody lives')
    return life
  }
  return {
    ...parts,
    get router() {
      return current().router
    },
    get runtime() {
      return current().runtime
    },
    get approvals() {
      return current().approvals
    },
    get semaphore() {
      return current().semaphore
    },
    /** Number of writes in the current run. */
    get writes() {
      return current().writes()
    },
    /** Resolves once the current run was killed. */
    get died() {
      return current().died
    },
    /**
     * Starts the runtime as the hub does: it voids leases, applies the agents' files and wakes waiting
     * threads.
     */
    async start(death?: Death) {
      life = createLife(parts, death)
      await store.write(async tx => {
        await voidLeases(tx)
        await closeQuestions(tx, clock.now())
      })
      const applied = await applyAgents()
      await life.approvals.begin()
      await life.runtime.wakeAll()
      return applied
    },
    /** Ends the current run at once: its further writes have no effect. */
    kill() {
      current().kill()
    },
    /** Continues a killed run, as if its process had only been asleep. */
    revive() {
      current().revive()
    },
    /** Runs the clock's due work, without schedules. */
    fireDue: () => current().due.fire(),
    /** Returns the time of the clock's next work, without schedules. */
    nextDue: () => current().due.nextDue(),
    applyAgents,
    post: (text: string, conversation = 'homelab', clientId?: string, timezone?: string) =>
      current().router.postMessage({ conversation, text, author: 'alex', clientId, timezone }),
    reset: (request: ResetRequest) => current().reset(request),
    /** Resolves when nothing runs any more. */
    idle: () => until('nothing runs', () => current().runtime.busy === 0, { on: nextTurn }),
    async [Symbol.asyncDispose]() {
      await life?.approvals[Symbol.asyncDispose]()
      await life?.runtime[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  }
  async function applyAgents() {
    const applied = await applyAgentFiles({ store, clock, timezone: ZONE }, [...agents.values()])
    current().retired.splice(0, Number.POSITIVE_INFINITY, ...applied.retired)
    return applied
  }
}

/** Checks again after the next round of I/O; where a server answers, it gets the processor meanwhile. */
function nextTurn(look: () => void): () => void {
  if (server !== undefined) {
    const later = setTimeout(look, 1)
    return () => clearTimeout(later)
  }
  const turn = setImmediate(look)
  return () => clearImmediate(turn)
}

let lives = 0

function createLife(parts: Parts, death: Death | undefined) {
  const { clock, agents, seen } = parts
  const mortal = makeMortal(parts.store.write, death)
  const store = { ...parts.store, write: mortal.write }
  const log = createLog({ level: 'debug', now: clock.now, write: line => seen.log.add(JSON.parse(line)) })
  const signals = createSignals(error => log.error('listener_failed', { error }))
  signals.on('message', message => seen.messages.add(message))
  signals.on('cycleEnded', ended => seen.ended.add(ended))
  signals.on('delta', delta => seen.deltas.add(delta))
  signals.on('tool', tool => seen.calls.add(tool))
  signals.on('agent', agent => seen.states.add(agent))
  signals.on('idle', ({ thread }) => seen.rests.add({ thread, isActive: runtime.isActive(thread) }))
  signals.on('approval', approval => seen.approvals.add(approval))
  signals.on('schedules', schedules => seen.schedules.add(schedules))
  const newId = createIds(clock.now)
  const retired: string[] = []
  const telemetry = createTelemetry({ clock, log, signals })
  const common = { store, clock, newId, signals, telemetry, zone: { timezone: ZONE } }
  const modelOf = () => parts.changed.model ?? model
  const routes = { ...common, agents: () => [...agents.values()] }
  const router = createRouter({ ...routes, retired: () => retired, modelOf })
  const reset = createReset(routes)
  const agent = (name: string) => agents.get(name)
  const meta = createMetaTools({ newId, signals, agentsOf: router.agentsOf, agent })
  const semaphore = createSemaphore(parts.concurrency)
  const onAnswers = (model: string) => signals.emit('modelAnswers', { name: model })
  const model = createChain([{ model: parts.model }], { now: clock.now, onAnswers })
  const toolBox = createToolBox(parts, meta)
  const owner = `life-${++lives}`
  const runtime = createRuntime(
    {
      ...common,
      random: () => 1,
      log,
      timezone: ZONE,
      toolBox,
      policy: question => decidePolicy(parts.rules, question),
      model: modelOf,
      compactionModel: () => parts.summaries,
      agent,
      budget: () => ({ file: 'superbloom.yaml', ...parts.budget }),
      owner,
      noteCycle: async () => undefined,
    },
    semaphore,
  )
  const approvals = createApprovals({ ...common, log, toolBox, agent, owner, sampleFor: runtime.sampleFor })
  signals.on('posted', ({ thread }) => runtime.wake(thread))
  signals.on('modelAnswers', () => void runtime.resume())
  signals.on('modelRetryRequested', () => model.health.reset())
  const due = combineSources([router.eventReleases, ...runtime.due], clock.now)
  return { due, router, reset, runtime, approvals, semaphore, signals, retired, ...mortal }
}

function createToolBox(
  { tools, starting }: Pick<Parts, 'tools' | 'starting'>,
  meta: ReturnType<typeof createMetaTools>,
): ToolBox<Tx> {
  return {
    settled: true,
    list: access => [
      ...meta
        .filter(({ name }) => givesMetaTool(access, name))
        .map(tool => fitTool(tool, access))
        .map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
      ...[...tools.values()]
        .filter(({ name }) => givesTool(access, name))
        .map(({ name, description = '' }) => ({ name, description, inputSchema: { type: 'object' } })),
    ],
    find(name, access) {
      const metaTool = meta.find(tool => tool.name === name)
      if (metaTool && givesMetaTool(access, name))
        return { kind: 'meta', ends: metaTool.ends, run: fitTool(metaTool, access).run }
      const tool = tools.get(name)
      if (!tool || !givesTool(access, name)) return undefined
      const { reads = false, repeatable = reads, destructive = false, destroys = false } = tool
      const declared = reads ? ('look' as const) : destroys ? ('destroy' as const) : ('change' as const)
      const facts = { name, declared, trust: 'own' as const, isOwnChannel: false, ...tool.facts }
      const hints = { reads, repeatable, destructive, facts, samples: tool.samples ?? true }
      return { kind: 'server', ...hints, call: async (a, o) => tool.run(a, o) }
    },
    resolve: call => call,
    whyMissing: () => undefined,
    untilListed: async name => await starting?.(name),
  }
}
