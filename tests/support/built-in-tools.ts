import { toModelTool } from '../../hub/catalogue/model-tool.ts'
import type { ModelTool } from '../../hub/core/model.ts'
import { createMetaTools } from '../../hub/meta-tools/index.ts'
import { downloads } from '../../servers/downloads/server.ts'
import { games } from '../../servers/games/server.ts'
import { systemClock } from '../../servers/kit/clock.ts'
import type { ServerDefinition } from '../../servers/kit/server.ts'
import { startWorld } from '../../servers/kit/testing/server-world.ts'
import { media } from '../../servers/media/server.ts'
import { metrics } from '../../servers/metrics/server.ts'
import { notifications } from '../../servers/notifications/server.ts'

const nothing = { process: { command: '/bin/true' } }
const channel = (name: string) => ({ kind: 'ntfy', url: `http://127.0.0.1:9/${name}` })

/** Lists the tools that a model is offered: those of the five built-in servers, and the meta-tools. */
export async function listBuiltInTools(folder: string): Promise<ModelTool[]> {
  const servers: readonly [ServerDefinition, Record<string, string>][] = [
    [
      games,
      { GAMES_SERVERS: JSON.stringify({ 'atm-10': nothing, quake: nothing }), GAMES_DISCOVER: 'false' },
    ],
    [metrics, {}],
    [downloads, {}],
    [media, {}],
    [
      notifications,
      {
        NOTIFICATIONS_CHANNELS: JSON.stringify({ phone: channel('phone'), tablet: channel('tablet') }),
        NOTIFICATIONS_DATA: `${folder}/notifications.db`,
      },
    ],
  ]
  const tools: ModelTool[] = metaTools()
  for (const [definition, environment] of servers) {
    await using started = await startWorld(definition, { clock: systemClock, environment, watchers: false })
    tools.push(...started.listed().map(tool => toModelTool(tool)))
  }
  return tools
}

function metaTools(): ModelTool[] {
  const deps = {
    newId: () => '',
    signals: { emit: () => undefined, on: () => () => undefined },
    timezone: 'UTC',
    agentsOf: () => [],
    agent: () => undefined,
  }
  return createMetaTools(deps).map(({ name, title, description, inputSchema, readOnly }) => ({
    name,
    title,
    description,
    inputSchema,
    readOnly,
    isMeta: true as const,
  }))
}
