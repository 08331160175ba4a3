import { afterAll, beforeAll, expect, test } from 'vitest'
import { toModelTool } from '../../../hub/catalogue/model-tool.ts'
import type { ModelTool } from '../../../hub/core/model.ts'
import { shapeTools } from '../../../hub/model/form/shape-tools.ts'
import { toChatTool } from '../../../hub/model/openai/chat-adapter.ts'
import { providers } from '../../../hub/model/providers/index.ts'
import { openClient } from '../../support/clients.ts'
import { untilReady } from '../../support/downstream.ts'
import type { ChatTool } from '../../support/first-hub.ts'
import { untilNoChildren } from '../../support/processes.ts'
import { startTestHub } from '../../support/test-hub.ts'
import { buildGrammarCheck, type CheckGrammar, findRefused } from './llama-grammar.ts'
import { openNpmWorld } from './npm-measure.ts'
import { installServers, type NpmServer, toEntry } from './npm-servers.ts'

const INSTALL_MS = 300_000

/** The form for every server that is built on llama.cpp. */
const FORM = providers.compatible.form({
  provider: 'compatible',
  baseUrl: 'http://h',
  model: 'qwen3',
  vision: false,
})

/** Converts all tools to the form that llama.cpp is sent. */
export function toShaped(tools: readonly ModelTool[]): ChatTool[] {
  return shapeTools(tools, { ...FORM.tools, most: tools.length }, new Set()).map(toChatTool)
}

/** Tests that llama.cpp accepts every tool of these servers, which run in one hub. */
export function testNpmGrammars(servers: readonly NpmServer[], title: string): void {
  let world: Awaited<ReturnType<typeof openNpmWorld>>
  let checkGrammar: CheckGrammar
  let tools: ModelTool[]

  beforeAll(async () => {
    checkGrammar = await buildGrammarCheck()
    const programOf = installServers(servers, title)
    world = await openNpmWorld()
    tools = await listTools(servers.map(server => [server.name, toEntry(server, programOf(server), world)]))
  }, INSTALL_MS)
  afterAll(async () => {
    await world[Symbol.asyncDispose]()
    await untilNoChildren()
  })

  test('llama.cpp accepts every tool of these servers', () => {
    const names = tools.map(tool => tool.name)
    for (const server of servers) {
      const prefix = server.entry?.(world).prefix ?? `${server.name}__`
      expect(names).toContain(`${prefix}${server.call.tool}`)
    }
    expect(findRefused(checkGrammar, toShaped(tools))).toEqual([])
  })

  test('unshaped, it refuses some of them', () => {
    expect(findRefused(checkGrammar, tools.map(toChatTool))).not.toEqual([])
  })
}

async function listTools(entries: readonly (readonly [string, object])[]): Promise<ModelTool[]> {
  const config = JSON.stringify({ servers: { metrics: false, ...Object.fromEntries(entries) } })
  await using hub = await startTestHub({ config })
  await untilReady(hub, ...entries.map(([name]) => name))
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  const tools = (await client.listTools()).map(toModelTool)
  return tools.filter(tool => !tool.name.startsWith('hub_'))
}
