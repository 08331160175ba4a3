import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { z } from 'zod'
import { createProgram } from '../hub/cli/program.ts'
import { parseAgentFile } from '../hub/config/agent-files.ts'
import { builtIns } from '../hub/config/built-ins.ts'
import { parseYaml } from '../hub/config/yaml-file.ts'
import { systemClock } from '../hub/core/clock.ts'
import { createSignals } from '../hub/core/signals.ts'
import { AGENT } from '../hub/demo/homelab-story.ts'
import { createHubResources } from '../hub/mcp/hub-resources/hub-resources.ts'
import { hubTools } from '../hub/mcp/hub-tools/index.ts'
import { agentFile } from '../schemas/agent-file.ts'
import { clientFrame } from '../schemas/chat.ts'
import { configFile, serverEntry } from '../schemas/config.ts'
import { eventPayloads } from '../schemas/events.ts'
import { hubStatus } from '../schemas/hub-status.ts'
import { PROVIDERS } from '../schemas/providers.ts'
import { clients } from './real/clients/clients.ts'
import { documentedRows, identify } from './real/clients/table.ts'
import { openMetaTools } from './support/meta-tools.ts'
import { mimics } from './support/mimics/index.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const reference = ['configuration', 'agents', 'chat', 'mcp', 'operations', 'troubleshooting']
  .map(name => read(`docs/${name}.md`))
  .join('\n')
const readme = read('README.md')

/** Returns the text between a heading and the next one of its level. */
function section(heading: string): string {
  const begin = reference.indexOf(`## ${heading}`)
  expect(begin, `no document has a section ${heading}`).toBeGreaterThanOrEqual(0)
  return reference.slice(begin + 3).split(/\n##? /)[0] ?? ''
}

/** Returns the first column of a table, without backticks. */
function firstColumn(heading: string): string[] {
  return [...section(heading).matchAll(/^\| `([^`]+)`/gm)].map(match => match[1] ?? '')
}

function sources(folder: string): string {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map(path => read(join(folder, path)))
    .join('\n')
}

const signals = createSignals(error => {
  throw error
})
const program = await createProgram()
const unused = () => {
  throw new Error('Only the definitions are looked at')
}

test('every command is in the reference, and back', () => {
  const names = program.commands.flatMap(command => [
    command.name(),
    ...command.commands.map(inner => `${command.name()} ${inner.name()}`),
  ])
  const documented = firstColumn('Commands').map(text =>
    text
      .replace('superbloom ', '')
      .replace(/ ?[[<].*/, '')
      .trim(),
  )
  expect(documented.sort()).toEqual(names.sort())
})

test('every option of every command is in the reference', () => {
  const options = program.commands
    .flatMap(command => [command, ...command.commands])
    .flatMap(command => command.options.map(option => option.long ?? ''))
  expect(options.length).toBeGreaterThan(3)
  for (const option of options) expect(section('Commands')).toContain(option)
})

test('every variable that the hub reads is in the reference, and back', () => {
  const code = sources('hub/config')
  const known = new Set(
    [...code.matchAll(/'((?:SUPERBLOOM|OPENAI|OTEL)_[A-Z_]+|LOG_LEVEL)'/g)].map(match => match[1] ?? ''),
  )
  for (const { keyVariable } of Object.values(PROVIDERS)) known.add(keyVariable)
  expect([...known].sort()).toEqual(firstColumn('Environment').sort())
})

test('every key of the config is in the reference, and back', () => {
  const keys = firstColumn('Config: `superbloom.yaml`').map(key => key.split('.')[0])
  expect([...new Set(keys)].sort()).toEqual(Object.keys(configFile.shape).sort())
  const { model, tools, budget, retention } = configFile.shape
  const nested: z.ZodObject[] = [
    model.unwrap(),
    model.unwrap().shape.default,
    ...[tools, budget, retention].map(one => one.unwrap()),
  ]
  for (const key of nested.flatMap(one => Object.keys(one.shape)))
    expect(section('Config: `superbloom.yaml`')).toMatch(new RegExp(`\`(\\w+\\.)?${key}\``))
})

test("every key of a server's entry and every state of a server is in the reference", () => {
  for (const key of Object.keys(serverEntry.shape)) {
    expect(section('Config: `superbloom.yaml`')).toContain(`\`${key}\``)
  }
  for (const key of Object.keys(serverEntry.shape.oauth.unwrap().shape)) {
    expect(section('Logins at servers')).toContain(`\`${key}\``)
  }
  const { state } = hubStatus.shape.servers.element.shape
  expect(firstColumn('How servers are kept')).toEqual(expect.arrayContaining(state.options))
})

test('every key of an agent file is in the reference, and back', () => {
  const heading = 'Agent files: `agents/<name>.md`'
  expect(firstColumn(heading).sort()).toEqual(Object.keys(agentFile.shape).sort())
  for (const limit of Object.keys(agentFile.shape.limits.unwrap().shape))
    expect(section(heading)).toContain(`\`${limit}\``)
})

test('every meta-tool and every one of its arguments is in the reference, and back', async () => {
  await using opened = await openMetaTools()
  const { tools } = opened
  const heading = "What an agent can do besides servers' tools"
  expect(firstColumn(heading).sort()).toEqual(tools.map(tool => tool.name).sort())
  for (const { name, inputSchema } of tools) {
    const line = section(heading).match(new RegExp(`^\\| \`${name}\` .*$`, 'm'))?.[0] ?? ''
    for (const key of Object.keys(inputSchema['properties'] ?? {})) expect(line).toContain(`\`${key}\``)
  }
})

test('every tool of the hub and every one of its arguments is in the reference, and back', () => {
  const heading = "The hub's own MCP tools"
  expect(firstColumn(heading).sort()).toEqual(hubTools.map(tool => tool.definition.name).sort())
  for (const { definition } of hubTools) {
    const line = section(heading).match(new RegExp(`^\\| \`${definition.name}\` .*$`, 'm'))?.[0] ?? ''
    for (const key of Object.keys(definition.inputSchema['properties'] ?? {}))
      expect(line).toContain(`\`${key}\``)
  }
})

test('every resource of the hub is in the reference, and back', () => {
  const { templates } = createHubResources({
    store: { db: undefined } as never,
    clock: systemClock,
    newId: unused,
    signals: signals as never,
    timezone: 'UTC',
    agents: unused,
  })
  const names = templates.map(({ uriTemplate }) =>
    uriTemplate.replace('{?after}', '').replace(/{\+?(\w+)}/, '<$1>'),
  )
  expect(firstColumn("The hub's own resources and prompts").sort()).toEqual(names.sort())
})

test('every frame of the chat is in the reference', () => {
  const text = section('Chat over `/ws`')
  const sent = clientFrame.options.map(option => option.shape.type.value)
  const received = [...read('schemas/chat.ts').matchAll(/^ {6}type: '([a-z]+)'|\{ type: '([a-z]+)'/gm)]
  const names = [...sent, ...received.map(match => match[1] ?? match[2] ?? '')]
  expect(new Set(names).size).toBeGreaterThan(9)
  for (const name of names) expect(text).toContain(`\`${name}\``)
})

test('every event of the built-in servers is in the reference, and back', () => {
  expect(firstColumn('Events of a server').sort()).toEqual(Object.keys(eventPayloads).sort())
})

test('every tool of the built-in servers is in the reference', () => {
  for (const server of builtIns) {
    const code = sources(`servers/${server.name}`)
    const names = [...code.matchAll(/^ {4}name: '([a-z]+_[a-z_]+)'/gm)].map(match => match[1] ?? '')
    expect(names.length, server.name).toBeGreaterThan(2)
    for (const name of names) expect(section('Built-in servers')).toContain(`\`${name}\``)
  }
})

test('the README presents every built-in server, with variables that exist', () => {
  for (const { name, envPrefixes } of builtIns) {
    const row =
      readme.match(new RegExp(`^\\| \\[${name}\\]\\(servers/${name}/README.md\\) .*$`, 'm'))?.[0] ?? ''
    const own = read(`servers/${name}/README.md`)
    for (const [variable] of row.matchAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g)) {
      expect(
        envPrefixes.some(prefix => variable.startsWith(prefix)),
        variable,
      ).toBe(true)
      expect(own).toContain(`\`${variable}\``)
    }
    for (const [, event = ''] of row.matchAll(/`([a-z]+_[a-z_]+)`/g)) expect(own).toContain(`\`${event}\``)
    expect(row).toMatch(/`[A-Z]+_[A-Z_]+/)
  }
})

test('the agent that comes along lists events that servers raise', () => {
  const { events } = parseAgentFile(
    'agents/homelab.md',
    read('agents/homelab.md'),
    () => undefined,
    undefined,
  )
  expect(events.length).toBeGreaterThan(8)
  for (const event of events) expect(Object.keys(eventPayloads)).toContain(event)
})

test('the agent that comes along grants what the stories of the demo need, and says how to take it back', () => {
  const parse = (text: string) => parseAgentFile('agents/homelab.md', text, () => undefined, undefined)
  const { grants } = parse(read('agents/homelab.md'))
  expect(parse(AGENT).grants.length).toBeGreaterThan(0)
  expect(grants).toEqual(expect.arrayContaining(parse(AGENT).grants))
  for (const name of grants) expect(section('Built-in servers')).toContain(`\`${name}\``)
  expect(read('agents/homelab.md')).toMatch(/^# .*take one back.*\n(# .*\n)+grants:/m)
})

test('every command, variable and script that the README names exists', () => {
  const commands = new Set(program.commands.map(command => command.name()))
  const named = [...readme.matchAll(/npx superbloom ([\w-]+)/g)].map(match => match[1] ?? '')
  expect(named.length).toBeGreaterThan(5)
  for (const name of named) expect(commands).toContain(name)
  for (const [name] of readme.matchAll(/\b(?:SUPERBLOOM|OPENAI)_[A-Z_]+\b/g)) {
    expect(firstColumn('Environment')).toContain(name.replace(/_FILE$/, ''))
  }
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const texts = `${readme}\n${read('CONTRIBUTING.md')}`
  for (const [, name] of texts.matchAll(/npm run ([\w:]+)/g)) expect(Object.keys(scripts)).toContain(name)
})

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`),
]
const LINK = /(?:\]\(|<img src=")(?!https?:)([^)"#]*)#?([^)"]*)[)"]/g
const links = documents.flatMap(file =>
  [...read(file).matchAll(LINK)].map(([, path = '', anchor = '']) => ({ file, path, anchor })),
)
/** Returns the file that a link leads to. */
const targetOf = ({ file, path }: (typeof links)[number]) => (path ? join(dirname(file), path) : file)

test('every link between documents leads to a file and a heading', () => {
  expect(links.length).toBeGreaterThan(30)
  const broken = links.filter(link => {
    const target = targetOf(link)
    if (!existsSync(join(root, target))) return true
    return link.anchor !== '' && !anchorsOf(read(target)).includes(link.anchor)
  })
  expect(broken).toEqual([])
})

test('every picture is shown, was made by the script, and is small; every task is listed', () => {
  const linked = links.map(targetOf)
  const pictures = readdirSync(join(root, 'docs/pictures')).map(name => `docs/pictures/${name}`)
  const made = [...read('scripts/screenshot.ts').matchAll(/name: '([a-z-]+)'/g)].map(match => match[1])
  expect(pictures.filter(path => !linked.includes(path))).toEqual([])
  expect(pictures).toEqual(made.map(name => `docs/pictures/${name}.png`).sort())
  const sizes = pictures.map(path => statSync(join(root, path)).size)
  expect(Math.max(...sizes)).toBeLessThan(120_000)
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(1_200_000)
  const listed = links.filter(({ file }) => file === 'docs/tasks/README.md').map(targetOf)
  expect(listed).toEqual(
    expect.arrayContaining(
      documents.filter(file => file.startsWith('docs/tasks/') && !file.endsWith('README.md')),
    ),
  )
})

/** Returns the anchors of a document's headings, as GitHub names them. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}

test('the examples of the README are valid', () => {
  const yaml = [...readme.matchAll(/```yaml\n([\s\S]*?)```/g)].map(match => match[1] ?? '')
  expect(yaml.length).toBe(5)
  const markdown = /```markdown\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
  for (const text of yaml) expect(() => parseExample(text)).not.toThrow()
  expect(parseAgentFile('agents/disks.md', markdown, () => undefined, undefined).events).toEqual([
    'disk_high',
  ])
})

function parseExample(text: string): unknown {
  return parseYaml({ file: 'README.md', text }, configFile, { environment: () => 'a value that is long' })
}

test('the table of clients has the clients that are measured, at the versions that are installed', () => {
  const documented = documentedRows()
    .slice(1)
    .map(cells => cells.slice(0, 3))
  expect(documented).toEqual(clients.map(identify))
})

test('every rule of every mimic of a provider is in docs/models.md with its source, and back', () => {
  const [, ...sections] = read('docs/models.md').split(/^## (?!Where)/m)
  const documented = sections.map(text => ({
    name: text.split('\n')[0],
    rules: [...text.matchAll(/^\| (.*) \| \[.*\]\((.*)\) \|$/gm)].map(([, what, source]) => ({
      what,
      source,
    })),
  }))
  expect(documented).toEqual(
    mimics.map(({ name, rules }) => ({ name, rules: rules.map(({ what, source }) => ({ what, source })) })),
  )
})
