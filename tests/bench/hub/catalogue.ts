import { join } from 'node:path'
import { startProgram } from '../../support/program.ts'
import { openHubProcess } from '../hub-process.ts'
import { median, memoryOf, round } from '../start/usage.ts'
import { MOST, wordsOf } from './catalogue-tool.ts'
import { ERAS, type Era, openHttpClient, resultOf } from './raw-client.ts'

const SERVER = join(import.meta.dirname, 'catalogue-server.ts')
const COUNT = MOST.servers * MOST.tools
const WARM_UP = 100
const TIMES = 300

/** Measures the merged catalogue of 50 servers with 30 tools each: listing, searching, calling. */
export async function measureCatalogue(): Promise<Record<string, number>> {
  await using below = await startProgram(process.execPath, [SERVER])
  const url = (await below.says(/http:\S+/))[0]
  const servers = Object.fromEntries(
    Array.from({ length: MOST.servers }, (_, index) => [`s${index}`, { url: `${url}/${index}` }]),
  )
  await using hub = await openHubProcess({
    agents: [],
    config: JSON.stringify({ servers: { metrics: false, ...servers } }),
  })
  const figures: Record<string, number> = {}
  for (const era of ERAS) Object.assign(figures, await measureAs(era, `${hub.url}/mcp`, hub.token))
  figures[`${COUNT} tools: hub, resident MB`] = round((memoryOf(hub.pid).rss * 2 ** 20) / 1e6, 1)
  return figures
}

async function measureAs(era: Era, address: string, token: string): Promise<Record<string, number>> {
  await using whole = await openHttpClient(era, { url: address, token })
  await using lean = await openHttpClient(era, { url: `${address}?tools=lean`, token })
  const listed = (await whole.send('tools/list', {}, 0)).length
  const names = namesIn(await whole.send('tools/list', {}, 0))
  if (names.length < COUNT) throw new Error(`Only ${names.length} tools were listed`)
  const list = await repeat(
    () => whole.send('tools/list', {}, 0),
    answer => answer.length >= listed,
  )
  const find = await repeat(
    time => lean.send('tools/call', { name: 'find_tools', arguments: { query: words(time).join(' ') } }, 0),
    (answer, time) => namesIn(answer)[0]?.endsWith(words(time).join('_')) === true,
  )
  const call = await repeat(
    time => whole.send('tools/call', { name: nameOf(names, time), arguments: { name: 'a' } }, 0),
    (answer, time) => answer.includes(words(time).join('_')),
  )
  const label = `${COUNT} tools, ${era} client`
  return {
    [`${label}: tools/list, p50 ms (aim under 3)`]: round(list, 2),
    [`${label}: tools/list, KiB`]: Math.round(listed / 1024),
    [`${label}: find_tools, p50 ms (aim under 5)`]: round(find, 2),
    [`${label}: a call over HTTP, p50 ms`]: round(call, 2),
  }
}

/** Picks different tools in turn, over all servers. */
const words = (time: number) => wordsOf(time % MOST.servers, (time * 7) % MOST.tools)

function nameOf(names: readonly string[], time: number): string {
  const ending = words(time).join('_')
  return names.find(name => name.endsWith(ending)) ?? ending
}

/** Returns the names of the tools that an answer lists or found. */
function namesIn(answer: Buffer): string[] {
  const result = resultOf(answer)
  const { tools } = (result['structuredContent'] ?? result) as { tools: { name: string }[] }
  return tools.map(({ name }) => name)
}

/** Returns the median milliseconds; throws if an answer is wrong. */
async function repeat(
  ask: (time: number) => Promise<Buffer>,
  isRight: (answer: Buffer, time: number) => boolean,
): Promise<number> {
  const times: number[] = []
  for (let time = 0; time < WARM_UP + TIMES; time++) {
    const began = performance.now()
    const answer = await ask(time)
    if (time >= WARM_UP) times.push(performance.now() - began)
    if (!isRight(answer, time)) throw new Error(`Not what was asked for: ${answer.toString('utf8', 0, 500)}`)
  }
  return median(times)
}
