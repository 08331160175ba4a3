import { existsSync, readFileSync } from 'node:fs'
import { until, within } from '../../support/until.ts'
import { ANSWERS, type Asked, CannotError, type OpenClient } from './open-client.ts'
import type { Wire } from './wire.ts'

/** The result of one feature of one client: it works, the client lacks it, or it failed. */
export type Cell = { kind: 'works' } | { kind: 'cannot' } | { kind: 'fails'; why: string }

/** The dependencies of the probes besides the client. */
export interface Around {
  wire: Wire
  /** The file in which the recorder behind the hub writes its lines. */
  recordFile: string
  /** Identifies the client in the record. */
  mark: string
  /** Opens the same client at an endpoint that has only lean mode's two tools. */
  openLean: () => Promise<OpenClient>
}

/** Resolves with false if the client lacks the feature; throws if it has the feature and fails. */
type Probe = (client: OpenClient, around: Around) => Promise<boolean>

const STRUCTURED = 'everything__get-structured-content'
const IMAGE = 'everything__get-tiny-image'

/** The probes in the order of the columns; the era and the connection are seen on the wire. */
export const PROBES: Readonly<Record<string, Probe>> = {
  list: async client => {
    if (!client.listTools) return false
    const names = await client.listTools()
    for (const name of ['hub_chat', 'everything__echo', 'rec__count', 'notes__write_note'])
      expectIn(names, name)
    return true
  },
  call: async ({ call }) => {
    if (!call) return false
    expectSaid(await call('everything__echo', { message: 'through the hub' }), 'Echo: through the hub')
    return true
  },
  progress: async ({ progress }) => {
    if (!progress) return false
    const seen = await progress('rec__count', { to: 3 })
    if (seen.join() !== '1,2,3') throw new Error(`Progress came as ${seen.join()}`)
    return true
  },
  structured: async ({ call }, { wire }) => {
    if (!call) return false
    const said = toText(await call(STRUCTURED, { location: 'New York' }))
    if (/"structured_?[cC]ontent"/.test(said)) return true
    expectSaid(wire.answered, '"structuredContent":{"temperature"')
    return false
  },
  images: async ({ call }, { wire }) => {
    if (!call) return false
    const said = toText(await call(IMAGE, {}))
    if (said.includes('iVBORw0KGgo')) return true
    expectSaid(wire.answered, 'iVBORw0KGgo')
    return false
  },
  resources: async client => {
    if (!client.readResource) return false
    const found = client.listResources ? await client.listResources() : undefined
    const uri =
      found?.find(one => one.includes('features.md')) ?? 'demo://resource/static/document/features.md'
    if (found) expectIn(found, uri)
    expectSaid(await client.readResource(uri), 'Everything Server')
    return true
  },
  prompts: async client => {
    if (!client.getPrompt) return false
    const found = (await client.listPrompts?.()) ?? ['everything__args-prompt']
    const name = found.find(one => one.endsWith('args-prompt'))
    if (!name) throw new Error(`No args-prompt among ${found.join(', ')}`)
    expectSaid(await client.getPrompt(name, { city: 'Kassel' }), 'weather in Kassel')
    return true
  },
  completions: async ({ complete }) => {
    if (!complete) return false
    expectSaid(await complete('everything__completable-prompt', 'department', 'Eng'), 'Engineering')
    return true
  },
  sampling: askedThrough('sampling', 'everything__trigger-sampling-request', {
    prompt: 'Say it',
    maxTokens: 9,
  }),
  elicitation: askedThrough('elicitation', 'everything__trigger-elicitation-request', {}),
  roots: askedThrough('roots', 'notes__ask_roots', {}),
  'list changes': async (client, { mark }) => {
    if (!client.watchTools || !client.call) return false
    const told = await client.watchTools()
    await client.call('rec__grow', { name: `grown-${mark}` })
    await within('the change to be told', told())
    return true
  },
  subscriptions: async (client, { mark }) => {
    if (!client.watchResource || !client.call) return false
    const told = await client.watchResource('note://today')
    await client.call('notes__write_note', { text: mark })
    await within('the update to be told', told())
    return true
  },
  cancel: async ({ cancel }, { mark, recordFile }) => {
    if (!cancel) return false
    const abort = new AbortController()
    const over = cancel('rec__wait', { name: mark }, abort.signal).then(
      () => undefined,
      () => undefined,
    )
    await recorded(recordFile, `started ${mark}`)
    abort.abort()
    await recorded(recordFile, `cancelled ${mark}`)
    await within('the call to be over', over)
    return true
  },
  'lean mode': async (_client, { openLean }) => {
    await using lean = await openLean()
    if (!lean.call) return false
    const names = (await lean.listTools?.()) ?? ['call_tool', 'find_tools']
    if ([...names].sort().join() !== 'call_tool,find_tools') throw new Error(`It lists ${names.join(', ')}`)
    expectSaid(await lean.call('find_tools', { query: 'echo a message' }), 'everything__echo')
    const args = { name: 'everything__echo', arguments: { message: 'found' } }
    expectSaid(await lean.call('call_tool', args), 'Echo: found')
    return true
  },
}

/** Calls a tool whose server asks the client before it answers. */
function askedThrough(what: Asked, tool: string, args: Record<string, unknown>): Probe {
  return async ({ call, answers = [] }, { wire }) => {
    if (!call || !answers.includes(what)) return false
    if (!wire.capabilities.has(what)) throw new Error('It does not say that it can be asked')
    expectSaid(await call(tool, args), ANSWERS[what])
    return true
  }
}

/** Runs one probe. Never rejects. */
export async function measure(probe: Probe, client: OpenClient, around: Around): Promise<Cell> {
  try {
    return { kind: (await probe(client, around)) ? 'works' : 'cannot' }
  } catch (error) {
    if (error instanceof CannotError) return { kind: 'cannot' }
    return { kind: 'fails', why: error instanceof Error ? error.message : String(error) }
  }
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

function expectSaid(value: unknown, words: string): void {
  const text = toText(value)
  if (!text.includes(words)) throw new Error(`"${words}" is not in ${text.slice(0, 300)}`)
}

function expectIn(names: readonly string[], name: string): void {
  if (!names.includes(name)) throw new Error(`${name} is not among the ${names.length} listed`)
}

async function recorded(file: string, line: string): Promise<void> {
  const lines = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [])
  await until(`the server records "${line}"`, () => lines().includes(line))
}
