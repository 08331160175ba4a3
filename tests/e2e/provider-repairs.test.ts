import { describe, expect, test } from 'vitest'
import { systemClock } from '../../hub/core/clock.ts'
import type { ModelMessage } from '../../hub/core/model.ts'
import type { QuirkStore } from '../../hub/model/repair/repairs.ts'
import { toolUseFailed } from '../support/mimics/groq.ts'
import { toObject } from '../support/mimics/json.ts'
import type { Fault } from '../support/mimics/mimic.ts'
import { toolNamesOf } from '../support/mimics/tool-names.ts'
import { OPENAI_CHAT, openPlayed, PLAYED, type PlayedProvider } from '../support/played-providers.ts'
import { ask, request } from '../support/provider.ts'

const WEEK = 7 * 24 * 3_600_000
const MOST_TRIES = 1 + 5

const NAMES = ['lamp', 'door', 'blind', 'heat', 'fan', 'lock', 'bell', 'cam'].map(name => `set_${name}`)
const TOOLS = NAMES.map(name => ({
  name,
  description: `Sets the ${name}`,
  inputSchema: { type: 'object', properties: { to: { type: 'string' } } },
}))
const BAD = 'set_lock'

const HISTORY: ModelMessage[] = [
  { role: 'user', text: 'Lock it', items: [] },
  {
    role: 'assistant',
    text: 'At once.',
    calls: [{ id: 'call_1', name: 'set_lamp', arguments: '{"to":"on"}' }],
    thinking: { by: 'another/model', text: 'Foreign.' },
  },
  { role: 'tool', callId: 'call_1', name: 'set_lamp', text: 'It is on.', isError: false },
  { role: 'user', text: 'Thanks. And now?', items: [] },
]

/** Opens a provider with a rule of its own, and what is remembered for its model. */
async function openRefusing(
  played: PlayedProvider,
  find: (body: string) => Fault | undefined,
  temperature?: number,
) {
  const stored = new Map<string, unknown>()
  const quirks: QuirkStore = {
    load: async key => stored.get(key),
    save: async (key, value) => void stored.set(key, JSON.parse(JSON.stringify(value))),
  }
  let passed = 0
  const clock = { ...systemClock, now: () => systemClock.now() + passed }
  const asked = await openPlayed(played, {
    quirks,
    clock,
    ...(temperature === undefined ? {} : { temperature }),
    answer(body, mimic) {
      const fault = find(body)
      if (!fault) return undefined
      // llama.cpp's form of an error has no field for the parameter.
      const { param: _, ...blank } = fault
      return { failure: mimic.refuse(/llama|lm-studio/.test(played.mimic) ? blank : fault) }
    },
  })
  /** Asks once; returns the number of requests that it took. */
  const tries = async (messages = HISTORY) => {
    const before = asked.mimic.requests.length
    asked.script({ text: 'Done.' })
    const { reply } = await ask(asked.model, request('', { messages, tools: TOOLS }))
    expect(reply.text).toBe('Done.')
    return asked.mimic.requests.length - before
  }
  const known = () => asked.model.health?.quirks().map(({ what }) => what)
  const pass = (span: number) => {
    passed += span
  }
  return { ...asked, tries, known, stored, pass }
}

const toolsIn = (body: string) => toolNamesOf(toObject(JSON.parse(body)))
const blame = (words: (at: number) => Partial<Fault>) => (body: string) => {
  const at = toolsIn(body).indexOf(BAD)
  return at < 0 ? undefined : { message: 'Bad Request', ...words(at) }
}

describe.each(PLAYED)('what nobody foresaw of $name', played => {
  test.each<[how: string, words: (at: number) => Partial<Fault>]>([
    [
      'by its number',
      at => ({
        message: `tools[${at}].function.parameters: not supported`,
        param: `tools[${at}].function.parameters`,
      }),
    ],
    ['by its name', () => ({ message: `The schema of '${BAD}' is not supported` })],
  ])('a tool that it blames %s is left out, for a week', async (_how, words) => {
    await using asked = await openRefusing(played, blame(words))
    expect(await asked.tries()).toBe(2)
    expect(asked.known()).toEqual([`refuses the tool ${BAD}`])
    expect(await asked.tries()).toBe(1)
    expect(toolNamesOf(asked.mimic.requests.at(-1) ?? {})).toEqual(NAMES.filter(name => name !== BAD))
    asked.pass(WEEK)
    expect(await asked.tries()).toBe(2)
  })

  test('a tool that it does not name is found by the requests that follow', async () => {
    await using asked = await openRefusing(
      played,
      blame(() => ({})),
    )
    expect(await asked.tries()).toBeLessThanOrEqual(MOST_TRIES)
    for (const _ of NAMES) expect(await asked.tries()).toBeLessThanOrEqual(2)
    expect(asked.known()).toEqual([`refuses the tool ${BAD}`])
    expect(toolNamesOf(asked.mimic.requests.at(-1) ?? {})).toEqual(NAMES.filter(name => name !== BAD))
  })

  test('a parameter that a model does not take is left out', async () => {
    const find = (body: string) =>
      /"temperature":/.test(body)
        ? { message: 'temperature: not supported', param: 'temperature' }
        : undefined
    await using asked = await openRefusing(played, find, 0.5)
    expect(await asked.tries()).toBeLessThanOrEqual(MOST_TRIES)
    expect(await asked.tries()).toBe(1)
    expect(toolNamesOf(asked.mimic.requests.at(-1) ?? {})).toEqual(NAMES)
  })

  test('its own thoughts are left out where it does not take them back', async () => {
    let taken = ''
    await using asked = await openRefusing(played, body =>
      taken !== '' && body.includes(taken) ? { message: 'Bad Request' } : undefined,
    )
    asked.script({ reasoning: 'The lamp, I think.', calls: [{ name: 'set_lamp', arguments: { to: 'on' } }] })
    const { reply } = await ask(asked.model, request('', { messages: HISTORY, tools: TOOLS }))
    const [call] = reply.calls
    const messages: ModelMessage[] = [
      ...HISTORY,
      { role: 'assistant', ...reply },
      { role: 'tool', callId: call?.id ?? '', name: 'set_lamp', text: 'On.', isError: false },
    ]
    taken = 'The lamp, I think.'
    expect(await asked.tries(messages)).toBeLessThanOrEqual(MOST_TRIES)
    expect(await asked.tries(messages)).toBe(1)
    expect(toolNamesOf(asked.mimic.requests.at(-1) ?? {})).toEqual(NAMES)
  })

  test('a history is told as text where it takes nothing else', async () => {
    const find = (body: string) =>
      /"(tools|tool_calls|tool_use|functionCall|function_call|tool_call_id)"/.test(body)
        ? { message: 'Bad Request' }
        : undefined
    await using asked = await openRefusing(played, find)
    expect(await asked.tries()).toBeLessThanOrEqual(MOST_TRIES)
    expect(asked.known()).toContain('is told earlier calls of tools as text')
    const last = JSON.stringify(asked.mimic.requests.at(-1))
    for (const said of ['At once.', 'It is on.', 'And now?']) expect(last).toContain(said)
    expect(last).not.toContain('Foreign.')
  })
})

test("Groq's failure to write a call is nothing to remember", async () => {
  const groq = PLAYED.find(({ name }) => name === 'groq')
  if (!groq) throw new Error('No Groq')
  for (const inStream of [true, false]) {
    await using asked = await openRefusing(groq, () => undefined)
    asked.script({ failure: toolUseFailed(inStream) })
    const failed = ask(asked.model, request('', { messages: HISTORY, tools: TOOLS }))
    await expect(failed).rejects.toMatchObject({ retryable: true })
    expect(asked.mimic.requests).toHaveLength(1)
    expect(await asked.tries()).toBe(1)
    expect(asked.known()).toEqual([])
    expect(asked.stored.size).toBe(0)
  }
})

test("OpenAI's chat completions behind another address: its name of the limit is found once", async () => {
  await using asked = await openRefusing(OPENAI_CHAT, () => undefined)
  expect(await asked.tries()).toBe(2)
  expect(await asked.tries()).toBe(1)
  expect(asked.mimic.requests.at(-1)).toMatchObject({ max_completion_tokens: 256 })
  expect(asked.mimic.refusals.map(({ rule }) => rule)).toEqual(['`max_tokens`'])
})
