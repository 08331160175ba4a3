import { toObject } from '../support/mimics/json.ts'
import { startVllmMimic } from '../support/mimics/vllm.ts'
import { openHubProcess } from './hub-process.ts'
import { round } from './start/usage.ts'

const TURNS = 200
const CONTEXT = 32_768
const AGENT = 'homelab'

/**
 * Measures which share of each request equals the beginning of the one before, byte by byte: a provider
 * caches no more.
 */
export async function cache(): Promise<Record<string, number>> {
  const asked: string[] = []
  let summaries = 0
  await using mimic = await startVllmMimic(
    ({ body, index }) => {
      // The JSON fields after `messages` are no part of the prompt.
      const { tools, messages } = body
      const hasTools = Array.isArray(tools) && tools.length > 0
      if (!hasTools) summaries += 1
      asked.push(JSON.stringify([tools ?? [], messages]).slice(0, -2))
      const last = Array.isArray(messages) ? toObject(messages.at(-1)) : {}
      const isNew = hasTools && last['role'] === 'user'
      return isNew
        ? { calls: [{ name: 'get_system_metrics', arguments: {} }] }
        : { text: `The machine is fine, and here is what I saw of it in turn ${index}: nothing unusual.` }
    },
    { callsTools: true },
  )
  const config = `servers: { metrics: {} }\nmodel: { default: { baseUrl: "${mimic.url}", model: bench, context: ${CONTEXT}, vision: false } }\n`
  await using hub = await openHubProcess({ agents: [AGENT], config })
  for (let turn = 0; turn < TURNS; turn++) await hub.turn(AGENT, `how is this machine doing, time ${turn}?`)
  const equal = asked.map((text, index) => commonStart(asked[index - 1] ?? '', text))
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)
  return {
    requests: asked.length,
    'of them summaries': summaries,
    'byte-equal to the request before, % (aim at least 90)': round(
      (100 * sum(equal)) / sum(asked.map(text => text.length)),
      1,
    ),
  }
}

function commonStart(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return at
}
