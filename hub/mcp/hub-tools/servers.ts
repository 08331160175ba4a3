import { z } from 'zod'
import { serverDetails, serverLogLine, TOOL_MODES } from '../../../schemas/hub-servers.ts'
import type { HubStatus } from '../../../schemas/hub-status.ts'
import { name } from '../../../schemas/names.ts'
import { toIso } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import { plural, toLine } from '../../core/text.ts'
import { record } from '../../store/audit-log.ts'
import { defineHubTool, type HubToolContext } from './hub-tool.ts'

/** Milliseconds to wait for a change of a file, which takes effect within two seconds. */
const APPLIED_WITHIN_MS = 8_000
/** Milliseconds to wait for a new server: a client waits 30 s, and a download of its package goes on. */
const STARTED_WITHIN_MS = 15_000

const server = z.strictObject({ server: name })
const listed = z.object({
  name: z.string(),
  state: z.string(),
  tools: z.int(),
  error: z.string().optional(),
  file: z.string().optional(),
  notes: z.array(z.string()).optional(),
})
type Listed = z.input<typeof listed>
type State = HubStatus['servers'][number] | undefined

export const addServer = defineHubTool({
  name: 'hub_add_server',
  title: 'Add a server',
  description:
    "Adds MCP servers, as another client's JSON, a command line or an address say them. They are kept in the data folder, also where they do not start; the answer says how they are.",
  input: z.strictObject({
    paste: z.string().min(1).describe('{"mcpServers": …}, a command line, or an address'),
    name: z.string().optional().describe('what it is called; of several, the one that is taken'),
  }),
  output: z.object({ servers: z.array(listed) }),
  effect: 'adds',
  right: 'admin',
  async run({ paste, name: wanted }, context) {
    const { servers } = context.deps
    const added = servers.add(paste, wanted)
    for (const one of added) await note(context, 'added', { server: one.name, file: one.file })
    const states = added.map(async ({ name: own, file, notes }): Promise<Listed> => {
      await untilApplied(context, own, state => state?.origin === 'drop-in')
      const { state, tools = 0, error } = (await untilStarted(context, own)) ?? {}
      return {
        name: own,
        state: state ?? 'starting',
        tools,
        file,
        notes,
        ...(error === undefined ? {} : { error }),
      }
    })
    return { servers: await Promise.all(states) }
  },
  toText: ({ servers }) =>
    servers
      .map(one =>
        toLine(
          `${one.name}: ${one.state}, ${plural(one.tools, 'tool')}${one.error ? ` (${one.error})` : ''}`,
        ),
      )
      .join('\n'),
})

export const changeServer = defineHubTool({
  name: 'hub_change_server',
  title: 'Change a server',
  description:
    "Switches a server off or on, or sets who may use a tool of it: on, as the policy says; run, agents do not ask where a person wants it; routine, nor in work of schedules, events and other agents; ask, agents ask each time; deny, agents never; off, nobody. It writes the server's entry or the config file.",
  input: z.strictObject({
    server: name,
    enabled: z.boolean().optional(),
    tool: z.string().optional().describe('its name in the hub'),
    mode: z.enum(TOOL_MODES).optional().describe('of the tool'),
  }),
  output: z.object({ written: z.array(z.string()).describe('the files that changed') }),
  effect: 'removes',
  right: 'admin',
  async run({ server: own, enabled, tool, mode }, context) {
    const { servers } = context.deps
    if ((tool === undefined) !== (mode === undefined) || (enabled === undefined) === (mode === undefined))
      throw new HubError('invalid_arguments', 'hub_change_server: give enabled, or tool and mode')
    if (enabled !== undefined) {
      const written = servers.enable(own, enabled)
      if (written.length > 0)
        await note(context, enabled ? 'enabled' : 'disabled', { server: own, file: written[0] })
      await untilApplied(
        context,
        own,
        state => state !== undefined && (state.state !== 'disabled') === enabled,
      )
      if (enabled) await untilStarted(context, own)
      return { written }
    }
    const found = servers.read(own).tools.find(one => one.name === tool)
    if (!found || mode === undefined)
      throw new HubError('not_found', `${own} lists no tool ${tool} now; hub_read_server says what it lists.`)
    const { original, name: called, toolClass } = found
    const written = servers.setToolMode({ server: own, original, name: called, toolClass }, mode)
    if (written.length > 0)
      await note(context, 'changed', { server: own, tool: found.name, mode, file: written[0] })
    const modeOf = () => servers.read(own).tools.find(one => one.original === found.original)?.mode
    await untilApplied(context, own, () => modeOf() === mode)
    // The first copy of the config is hidden from servers in a sandbox, which begin anew for that.
    await untilStarted(context, own)
    return { written }
  },
  toText: ({ written }) => (written.length === 0 ? 'It is so already.' : `Written: ${written.join(', ')}`),
})

export const removeServer = defineHubTool({
  name: 'hub_remove_server',
  title: 'Remove a server',
  description:
    'Takes a server away: its entry of the config file, of which a copy is kept, or its folder in the data folder, which is put aside.',
  input: server,
  output: z.object({ file: z.string(), kept: z.string().optional().describe('what it was before') }),
  effect: 'removes',
  right: 'admin',
  async run({ server: own }, context) {
    const before = stateOf(context, own)?.origin
    const removed = context.deps.servers.remove(own)
    await note(context, 'removed', { server: own, ...removed })
    await untilApplied(context, own, state => state?.origin !== before)
    return removed
  },
  toText: ({ file, kept }) =>
    `Removed from ${file}.${kept === undefined ? '' : ` It is kept as ${kept}.`} hub_restore_server brings it back.`,
})

export const restoreServer = defineHubTool({
  name: 'hub_restore_server',
  title: 'Bring a removed server back',
  description:
    'Undoes hub_remove_server: a server that was removed since the hub started is there again, with its entry and who may use its tools.',
  input: server,
  output: listed,
  effect: 'adds',
  right: 'admin',
  async run({ server: own }, context) {
    const before = stateOf(context, own)?.origin
    const { file } = context.deps.servers.restore(own)
    await note(context, 'restored', { server: own, file })
    await untilApplied(context, own, state => state !== undefined && state.origin !== before)
    const { state, tools = 0, error } = (await untilStarted(context, own)) ?? {}
    return {
      name: own,
      state: state ?? 'starting',
      tools,
      file,
      ...(error === undefined ? {} : { error }),
    }
  },
  toText: one => `${one.name}: ${one.state}`,
})

export const restartServer = defineHubTool({
  name: 'hub_restart_server',
  title: 'Restart a server',
  description: 'Ends the process or connection of a server and begins another; calls in flight finish.',
  input: server,
  output: listed,
  effect: 'removes',
  right: 'admin',
  async run({ server: own }, context) {
    context.deps.servers.restart(own)
    await note(context, 'restarted', { server: own })
    const { state, tools = 0, error } = (await untilStarted(context, own)) ?? {}
    return { name: own, state: state ?? 'starting', tools, ...(error === undefined ? {} : { error }) }
  },
  toText: one => `${one.name}: ${one.state}`,
})

export const readServer = defineHubTool({
  name: 'hub_read_server',
  title: 'Read a server',
  description: 'The entry of a server without its secrets, and its tools, with who may use each.',
  input: server,
  output: serverDetails,
  effect: 'reads',
  right: 'admin',
  run: async ({ server: own }, { deps }) => deps.servers.read(own),
  toText: ({ tools }) => tools.map(one => toLine(`${one.name}: ${one.mode}`)).join('\n') || 'No tools.',
})

export const readServerLog = defineHubTool({
  name: 'hub_read_server_log',
  title: 'Read the log of a server',
  description:
    'The last lines that a server wrote to standard error, and what the hub says of its connections.',
  input: server,
  output: z.object({ lines: z.array(serverLogLine) }),
  effect: 'reads',
  right: 'admin',
  run: async ({ server: own }, { deps }) => ({
    lines: deps.servers.log(own).map(line => ({ ...line, text: deps.redact(line.text) })),
  }),
  toText: ({ lines }) =>
    lines.map(({ at, by, text }) => `${toIso(at)} ${by}: ${text}`).join('\n') || 'It wrote nothing.',
})

function stateOf({ deps }: HubToolContext, own: string): State {
  // The first of several servers with one name is the one that has it.
  return deps.servers.states().find(one => one.name === own)
}

/** Adds a row to the audit: the owner changed what the operator's files say. */
async function note({ deps, principal }: HubToolContext, outcome: string, details: object): Promise<void> {
  const { name: actor, role } = principal
  const row = { at: deps.clock.now(), kind: 'config', actor, role, door: 'mcp', outcome } as const
  await deps.store.write(tx => record(tx, { ...row, details: { ...details } }))
}

/** Waits until the hub has applied a written change. Throws `unavailable` where it does not, with why. */
async function untilApplied(
  context: HubToolContext,
  own: string,
  isApplied: (state: State) => boolean,
): Promise<void> {
  if (await until(context, () => isApplied(stateOf(context, own)), APPLIED_WITHIN_MS)) return
  const { problems } = await context.deps.status({})
  const said = problems.length > 0 ? ` It says: ${problems.join('; ')}` : ''
  throw new HubError('unavailable', `It is written, but the hub has not taken it.${said}`)
}

/** Returns the state of a server once it does not start any more, or as it is after some seconds. */
export async function untilStarted(context: HubToolContext, own: string): Promise<State> {
  await until(context, () => stateOf(context, own)?.state !== 'starting', STARTED_WITHIN_MS)
  return stateOf(context, own)
}

/** Waits for something that comes with servers or the config; returns false if it does not come in time. */
async function until(
  { deps: { signals, clock }, signal }: HubToolContext,
  isTrue: () => boolean,
  within: number,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let wasTrue = false
  const look = () => {
    wasTrue ||= isTrue()
    if (wasTrue) resolve()
  }
  const offs = [signals.on('servers', look), signals.on('config', look), clock.after(within, resolve)]
  signal.addEventListener('abort', () => resolve(), { once: true })
  look()
  await promise
  for (const off of offs) off()
  return wasTrue
}
