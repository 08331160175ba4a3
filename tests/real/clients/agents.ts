import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type ChatCompletionRequest, LLMock } from '@copilotkit/aimock'
import { start } from '../../support/cli.ts'
import { type Args, bridgeOf, type ClientDriver, type OpenClient, type Place } from './open-client.ts'
import { type Group, programOf } from './packages.ts'
import { openWire } from './wire.ts'

/**
 * Agents that start MCP servers or connect by HTTP, and make their model's calls. The model is a fixture: it
 * requests one tool, once, and the result is read from the agent's next request to it.
 */

type Over = 'HTTP' | 'stdio'

interface Started {
  command: string
  args: string[]
  variables: Record<string, string>
}

interface Agent {
  over: Over
  prepare: Prepare
}

/** Writes the agent's config below its home, and returns how to start it with one question. */
type Prepare = (place: Place, over: Over, model: string) => Started

const QUESTION = 'Use your tool.'

/** The agent's requests as its model saw them. */
interface Shown {
  /** Names of the offered tools. */
  tools: string[]
  /** Bodies of the agent's requests. */
  requests: readonly string[]
}

/** Asks the agent once, with a model that requests this tool; throws if the agent did not offer it. */
async function ask(place: Place, agent: Agent, wanted: { tool: string; args: Args }): Promise<Shown> {
  const model = new LLMock({ port: 0, host: '127.0.0.1' })
  const offers: string[][] = []
  const fits = (name: string) => name.endsWith(wanted.tool)
  const wants = ({ tools = [], messages }: ChatCompletionRequest) => {
    const names = tools.map(tool => tool.function.name)
    offers.push(names)
    return names.some(fits) && !messages.some(({ role }) => role === 'tool')
  }
  model.on({ predicate: wants }, ({ tools = [] }) => {
    const name = tools.map(tool => tool.function.name).find(fits) ?? ''
    return { toolCalls: [{ name, arguments: JSON.stringify(wanted.args) }] }
  })
  model.on({ predicate: () => true }, { content: 'Done.' })
  await model.start()
  try {
    await using wire = await openWire(model.url)
    const { command, args, variables } = agent.prepare(place, agent.over, wire.url)
    await using running = start(command, args, {
      variables: { HOME: place.folder, CI: '1', NO_COLOR: '1', ...variables },
      cwd: place.folder,
      input: '',
    })
    const { code, stdout, stderr } = await running.ended()
    const tools = offers.find(names => names.some(fits))
    if (!tools) throw new Error(`Its model was not offered ${wanted.tool} (${code}): ${stderr}${stdout}`)
    return { tools, requests: [...wire.sent] }
  } finally {
    await model.stop()
  }
}

/** Removes the prefix that an agent puts in front of the names. */
function withoutPrefix(names: readonly string[], known: string): string[] {
  const prefix = names.find(name => name.endsWith(known))?.slice(0, -known.length) ?? ''
  return names.filter(name => name.startsWith(prefix)).map(name => name.slice(prefix.length))
}

function openAgent(place: Place, agent: Agent): OpenClient {
  const known = place.url.includes('lean') ? 'find_tools' : 'everything__echo'
  return {
    async listTools() {
      const { tools } = await ask(place, agent, { tool: known, args: { message: 'hi', query: 'hi' } })
      return withoutPrefix(tools, known)
    },
    async call(tool, args) {
      return (await ask(place, agent, { tool, args })).requests.join('\n')
    },
    [Symbol.asyncDispose]: async () => undefined,
  }
}

function write(place: Place, path: string, text: string): string {
  const file = join(place.folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

const headers = ({ token }: Place) => ({ Authorization: `Bearer ${token}` })

const claudeCode: Prepare = (place, over, model) => {
  const entry = over === 'HTTP' ? { type: 'http', url: place.url, headers: headers(place) } : bridgeOf(place)
  const config = write(place, 'mcp.json', JSON.stringify({ mcpServers: { superbloom: entry } }))
  return {
    command: programOf('claude-code', `@anthropic-ai/claude-code-linux-${process.arch}/claude`),
    args: [
      '-p',
      QUESTION,
      '--mcp-config',
      config,
      '--strict-mcp-config',
      '--allowedTools',
      'mcp__superbloom',
    ],
    variables: {
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: 'sk-ant-none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ENABLE_TOOL_SEARCH: 'false',
      DISABLE_AUTOUPDATER: '1',
    },
  }
}

const geminiCli: Prepare = (place, over, model) => {
  const entry = over === 'HTTP' ? { httpUrl: place.url, headers: headers(place) } : bridgeOf(place)
  const settings = {
    security: { auth: { selectedType: 'gemini-api-key' } },
    mcpServers: { superbloom: entry },
    privacy: { usageStatisticsEnabled: false },
  }
  write(place, '.gemini/settings.json', JSON.stringify(settings))
  return {
    command: process.execPath,
    args: [
      programOf('gemini-cli', '@google/gemini-cli/bundle/gemini.js'),
      ...['-m', 'gemini-2.5-flash', '-p', QUESTION, '--yolo'],
    ],
    variables: {
      GEMINI_API_KEY: 'none',
      GOOGLE_GEMINI_BASE_URL: model,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      GEMINI_CLI_NO_RELAUNCH: 'true',
    },
  }
}

function driversOf(name: string, installed: Group, prepare: Prepare): ClientDriver[] {
  return (['HTTP', 'stdio'] as const).map(over => ({
    name,
    over,
    of: name,
    installed,
    isHeavy: true,
    open: async place => openAgent(place, { over, prepare }),
  }))
}

export const agents: readonly ClientDriver[] = [
  ...driversOf('@anthropic-ai/claude-code', 'claude-code', claudeCode),
  ...driversOf('@google/gemini-cli', 'gemini-cli', geminiCli),
]
