import type { Tool } from '@modelcontextprotocol/server'
import { createToolFinder, findableIn } from './catalogue/find-tools.ts'
import { createChat } from './channels/chat.ts'
import { type DiscordChannel, openDiscord } from './channels/discord/discord.ts'
import { attachWebSocket } from './channels/websocket.ts'
import { readWelcome } from './channels/welcome.ts'
import { createAgentEditor } from './config/agent-editor.ts'
import { describeClient } from './config/client-config.ts'
import { createConfigEditor } from './config/config-editor.ts'
import { createHomeNetwork } from './config/home-network.ts'
import { ownNames } from './config/host-names.ts'
import { createModelFile } from './config/model-file.ts'
import { budgetOf } from './config/models.ts'
import { toNotifyChanges } from './config/notify.ts'
import { pageFolder } from './config/paths.ts'
import { createServerSettings } from './config/server-settings.ts'
import { tokenFile } from './config/token.ts'
import type { Changed } from './config/watch.ts'
import { systemClock } from './core/clock.ts'
import { matchesGlobs } from './core/glob.ts'
import type { Principal } from './core/principal.ts'
import { createBucket, createBuckets } from './core/rate-limit.ts'
import type { Engine } from './engine.ts'
import { createHouse } from './house/house.ts'
import { createAddressOf } from './http/address.ts'
import { createApp } from './http/app.ts'
import { createAuthorization } from './http/authorization/authorization.ts'
import { createDoors, type Doors, webSocketTokenOf } from './http/doors.ts'
import { type Listening, listen, toUrl } from './http/listen.ts'
import { createMetrics, type Metrics } from './http/metrics/metrics.ts'
import { createPage } from './http/page.ts'
import type { ApplyFiles, Foundation } from './hub.ts'
import { createMcpEndpoint, type McpEndpoint } from './mcp/endpoint.ts'
import { createHubPrompts, type HubPrompts } from './mcp/hub-resources/hub-prompts.ts'
import { createHubResources } from './mcp/hub-resources/hub-resources.ts'
import { type HubToolDeps, type ListedAgent, seenAgents } from './mcp/hub-tools/deps.ts'
import { hubTools } from './mcp/hub-tools/index.ts'
import { readAgentStates, readStatus, type StatusFacts } from './mcp/hub-tools/read-status.ts'
import { describeStatus } from './mcp/hub-tools/status.ts'
import { createTalk } from './mcp/hub-tools/talk.ts'
import { notifyClients } from './mcp/notify-clients.ts'
import { toShownUrl } from './model/ask-json.ts'
import { isInContainer, localHosts } from './model/find-models.ts'
import { createModelSettings } from './model/model-settings.ts'
import { createProgramSettings } from './programs/program-settings.ts'
import { estimateTokens } from './runtime/tokens.ts'
import { createDoorAudit, type DoorAudit } from './store/door-audit.ts'
import { openWebhooks } from './triggers/webhooks/open-webhooks.ts'
import { createPublicFetch } from './upstream/http/public-fetch.ts'

/** Rate limits far above what people and clients need, and far below what would do harm. */
const FRAMES = { perSecond: 500, burst: 2_000 }
const REQUESTS = { perSecond: 5_000, burst: 10_000 }

const OWN_TOOLS = hubTools.map(tool => ({ definition: tool.definition as Tool, about: 'hub agents' }))

/** Opens every entrance: the page, chat, MCP, health. */
export async function openEntrances(
  foundation: Foundation,
  engine: Engine,
  { isReady, applyFiles }: { isReady: () => boolean; applyFiles: ApplyFiles },
  stack: AsyncDisposableStack,
): Promise<Listening> {
  const { store, clock, log, config, agents, tokens, signals } = foundation
  const audit = createDoorAudit(foundation)
  const doors = openDoors(foundation, audit)
  const { host, port, tls } = config.current
  let listening: Listening | undefined
  const url = () => config.current.publicUrl ?? toUrl(host, listening?.port ?? port, tls !== undefined)
  const status: HubToolDeps['status'] = async asked =>
    readStatus(foundation, await toStatusFacts(foundation, engine, discord.problems), asked)
  const discord = stack.use(openDiscordChannel(foundation, engine, () => status({})))
  const hubToolDeps = toHubToolDeps(foundation, engine, { url, applyFiles, status })
  const hubPrompts = createHubPrompts(() => agents.all)
  const mcp = openMcp(foundation, engine, { refuse: audit.refuse, hub: hubToolDeps, hubPrompts }, stack)
  const watched = { signals: foundation.signals, clock, log, agents: () => agents.all, prompts: hubPrompts }
  notifyClients(watched, mcp, stack)
  const metrics = createMetrics({
    clock,
    signals,
    describeTool: engine.describeTool,
    status: () => status({}),
  })
  const mayPass = createBuckets(REQUESTS)
  const app = createApp({
    log,
    doors,
    audit,
    isReady,
    mayPass: caller => mayPass(caller.id, clock.monotonic()),
    hold: (caller, end) => tokens.hold(caller, end),
    tokens,
    files: { store, clock, newId: foundation.newId, mayUse: hubToolDeps.mayUse },
    openai: { store, clock, log, signals, ...createTalk(hubToolDeps) },
    authorization: createAuthorization({
      store,
      clock,
      log,
      tokens,
      doors,
      settings: () => config.current,
      url: () => new URL(url()).origin,
      fetch: createPublicFetch(() => false),
    }),
    page: createPage(pageFolder),
    mcp: mcp.handle,
    buttons: engine.notify.buttons,
    push: engine.notify.page,
    webhooks: openWebhooks({ clock, log, post: engine.router.postHook }, () => config.current.webhooks),
    metrics,
    logins: { publicUrl: () => config.current.publicUrl, logins: engine.serverTools.logins },
  })
  listening = stack.use(await listen({ host, port, onRequest: app, log, pair: tls?.pair }))
  stack.use(openWebSocket(foundation, engine, { doors, audit, metrics }, listening))
  return listening
}

function openMcp(
  foundation: Foundation,
  engine: Engine,
  shared: { refuse: DoorAudit['refuse']; hub: HubToolDeps; hubPrompts: HubPrompts },
  stack: AsyncDisposableStack,
): McpEndpoint {
  const { clock, log, config } = foundation
  const { servers } = engine.serverTools
  const finder = stack.use(createToolFinder(findableIn(servers, OWN_TOOLS)))
  return stack.use(
    createMcpEndpoint({
      ...shared,
      clock,
      log,
      telemetry: foundation.telemetry,
      version: foundation.version,
      hubResources: createHubResources(shared.hub),
      servers,
      toolClassOf: name => engine.describeTool(name)?.toolClass,
      gives: (toolset, name) => matchesGlobs(config.current.toolsets[toolset] ?? [], name),
      toolsets: () => Object.keys(config.current.toolsets),
      findTools: finder.find,
    }),
  )
}

function openDoors({ clock, config, tokens }: Foundation, { refuse }: DoorAudit): Doors {
  return createDoors({
    clock,
    find: token => tokens.find(token),
    refuse,
    tokenHint: `"superbloom tokens create NAME" makes one for a program; the owner's is in ${tokenFile('<data>')}, or what SUPERBLOOM_TOKEN says.`,
    hosts: () => ownNames(config.current),
    addressOf: createAddressOf(() => config.current.trustedProxies),
  })
}

function toHubToolDeps(
  foundation: Foundation,
  engine: Engine,
  { url, applyFiles, status }: Pick<HubToolDeps, 'url' | 'status'> & { applyFiles: ApplyFiles },
): HubToolDeps {
  const { store, clock, newId, signals, config, agents, environment } = foundation
  const onChange = (what: Changed) => (file: string, by: Principal) => applyFiles(what, { file, by })
  const { router, reset, explain, describeTool } = engine
  const editor = createConfigEditor(config, onChange('config'))
  const classOf = (tool: string) => describeTool(tool)?.toolClass
  return {
    redact: text => config.redact(text).replaceAll(foundation.tokens.ownerSecret, '***'),
    store,
    clock,
    newId,
    signals,
    get timezone() {
      return foundation.timezone
    },
    agents: only => listAgents(foundation, engine, only),
    mayUse: router.mayUse,
    tokens: foundation.tokens,
    servers: createServerSettings(config, engine.serverTools.servers, classOf, engine.toolPins),
    url,
    postMessage: router.postMessage,
    reset,
    why: engine.runtime.why,
    postEvent: router.postEvent,
    describeConfig: () => ({ file: config.file, values: config.describe(), problems: config.problems }),
    models: createModelSettings({
      clock,
      environment,
      estimate: estimateTokens,
      request: engine.firstRequest,
      ...createModelFile(editor, environment),
    }),
    network: createHomeNetwork({ config, editor, url, inContainer: isInContainer() }),
    programs: createProgramSettings({
      config,
      editor,
      hosts: localHosts({ inContainer: isInContainer() }),
      clock,
    }),
    setNotify: (settings, by) => editor.change(toNotifyChanges(settings), by),
    describeClient: client => describeClient(client, config.current),
    agentFiles: createAgentEditor({
      agents,
      dataFolder: config.current.dataFolder,
      onChange: onChange('agents'),
    }),
    acceptTools: (server, by) => engine.toolPins.accept(server, by),
    explain,
    stop: async (target, by) => {
      const { stopped, waiting } = await router.stop(target, by)
      return [
        ...stopped.map(({ thread, cycle }) => ({ thread, cycle })),
        ...waiting.map(thread => ({ thread })),
      ]
    },
    house: createHouse({ store, clock, servers: engine.serverTools.servers, describeTool, config }),
    status,
  }
}

function listAgents(
  { store, clock, agents }: Foundation,
  { crashGuard, runtime, retired }: Engine,
  only?: string,
): Promise<ListedAgent[]> {
  const { isActive } = runtime
  const isHeld = crashGuard.hold !== undefined
  return readAgentStates({ store, clock }, { all: agents.list(only), retired, only, isHeld, isActive })
}

async function toStatusFacts(
  foundation: Foundation,
  engine: Engine,
  channelProblems: readonly string[],
): Promise<StatusFacts> {
  const { config, models, agents, version, startedAt, timezone } = foundation
  const { runtime, crashGuard, serversWatch, serverTools } = engine
  const { default: first, named, compaction } = models.current
  const provider = config.current.model?.default
  return {
    version,
    startedAt,
    timezone,
    configFile: config.file,
    model: provider
      ? { kind: provider.provider, baseUrl: toShownUrl(provider.baseUrl) }
      : { kind: 'commands' },
    models: [first, ...named.values(), ...(compaction ? [compaction] : [])],
    held: crashGuard.hold,
    serversDown: serversWatch.down,
    servers: serverTools.servers,
    changedTools: server => engine.toolPins.changedOf(server),
    busy: runtime.busy,
    budget: budgetOf(config.current),
    agents: agents.all,
    problems: [
      ...config.problems,
      ...(await engine.notify.problems()),
      ...channelProblems,
      ...agents.problems,
      ...agents.all.flatMap(agent => runtime.problemOf(agent) ?? []),
    ],
  }
}

function openWebSocket(
  foundation: Foundation,
  engine: Engine,
  { doors, audit, metrics }: { doors: Doors; audit: DoorAudit; metrics: Metrics },
  { server }: Listening,
): AsyncDisposable {
  const { store, clock, version } = foundation
  const { mayUse, agentsOf } = engine.router
  return attachWebSocket(server, {
    ...toChat(foundation, engine, '/ws'),
    clock,
    networkClock: systemClock,
    refuse: audit.refuse,
    look: engine.notify.looks.look,
    admit: request => {
      doors.checkNames(request)
      return doors.admit(request, webSocketTokenOf(request), { door: 'Chat at /ws', right: 'chat' })
    },
    createLimit: () => createBucket(FRAMES),
    hold: (caller, end) => foundation.tokens.hold(caller, end),
    welcome: async caller => {
      const { hold } = engine.crashGuard
      const hub = { name: 'superbloom', version, ...(hold ? { held: hold.since } : {}) }
      const agents = await seenAgents({ agents: () => listAgents(foundation, engine) }, caller)
      return readWelcome({ store, hub, agents, mayUse, agentsOf }, caller)
    },
    countAnswer: status => metrics.countAnswer('ws', status),
  })
}

function toChat({ log, signals, store }: Foundation, { router, approvals }: Engine, door: '/ws' | 'discord') {
  return createChat({ log, signals, store, router, decide: approvals.decide, door })
}

/** Opens the bot on Discord, where the config asks for it. */
function openDiscordChannel(
  foundation: Foundation,
  engine: Engine,
  status: () => ReturnType<HubToolDeps['status']>,
): DiscordChannel {
  const { store, clock, config, agents } = foundation
  return openDiscord({
    ...toChat(foundation, engine, 'discord'),
    store,
    clock,
    settings: () => config.current.channels.discord,
    agents: () => agents.all.map(({ name }) => name),
    agentsOf: engine.router.agentsOf,
    describeStatus: async () => describeStatus(await status()),
  })
}
