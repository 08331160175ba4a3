import { existsSync } from 'node:fs'
import { KEY_VARIABLES } from '../../schemas/providers.ts'
import type { Clock } from '../core/clock.ts'
import { toLine } from '../core/text.ts'
import { type LocalServer, listServer } from './reported.ts'

/** A server that answers. `server` is missing for a program that is none of the known ones but speaks their API. */
export interface FoundServer {
  baseUrl: string
  server?: LocalServer
  models: string[]
}

export interface FoundModels {
  servers: FoundServer[]
  /** The names of variables that hold a key; never a key itself. */
  keys: string[]
}

export interface FindOptions {
  /** Where to look; default what `localAddresses` says. */
  addresses?: readonly string[]
  environment: (name: string) => string | undefined
  clock: Clock
}

/** Where Ollama, LM Studio, llama.cpp and vLLM listen unless told otherwise. */
const PORTS = [11_434, 1_234, 8_080, 8_000]

/** Milliseconds that each address has. */
const TIMEOUT = 1_000

/** The addresses on this machine; in a container, its own and those of the machine that it runs on. */
export function localAddresses({ inContainer }: { inContainer: boolean }): string[] {
  const hosts = ['127.0.0.1', ...(inContainer ? ['host.docker.internal'] : [])]
  return hosts.flatMap(host => PORTS.map(port => `http://${host}:${port}/v1`))
}

/** What answers, and which keys there are. Looks everywhere at once and never throws. */
export async function findModels({
  addresses = localAddresses({ inContainer: existsSync('/.dockerenv') || existsSync('/run/.containerenv') }),
  environment,
  clock,
}: FindOptions): Promise<FoundModels> {
  const found = await Promise.all(
    addresses.map(async (baseUrl): Promise<FoundServer[]> => {
      const listed = await listServer({ baseUrl, clock, timeout: TIMEOUT })
      if ('why' in listed) return []
      const models = listed.models.filter(isChatModel)
      return [{ baseUrl, ...(listed.server ? { server: listed.server } : {}), models }]
    }),
  )
  return { servers: found.flat(), keys: KEY_VARIABLES.filter(name => Boolean(environment(name))) }
}

/** The lists have models that only turn texts into vectors, and say so in nothing but their names. */
function isChatModel(model: string): boolean {
  return !/embed|rerank/i.test(model)
}

const PROGRAMS: Readonly<Record<LocalServer, string>> = {
  ollama: 'Ollama',
  'lm-studio': 'LM Studio',
  'llama.cpp': 'llama.cpp',
  vllm: 'vLLM',
}

/** What answers on this machine, a line each. */
export function describeServers({ servers }: FoundModels): string[] {
  if (servers.length === 0)
    return ['nothing answers at the usual ports of Ollama, LM Studio, llama.cpp and vLLM']
  return servers.map(({ server, baseUrl, models }) => {
    const program = server ? PROGRAMS[server] : 'an OpenAI-compatible server'
    return `${program} at ${baseUrl}: ${toLine(models.join(', ')) || 'no models'}`
  })
}

/** The variables that connect the first model that was found. */
export function describeVariables({ servers }: FoundModels): string {
  const first = servers.find(({ models }) => models.length > 0)
  return first
    ? `OPENAI_BASE_URL=${first.baseUrl} SUPERBLOOM_MODEL=${toLine(first.models[0] ?? '')}`
    : 'OPENAI_BASE_URL, OPENAI_API_KEY and SUPERBLOOM_MODEL'
}
