import { existsSync } from 'node:fs'
import { KEY_VARIABLES } from '../../schemas/providers.ts'
import type { Clock } from '../core/clock.ts'
import { toLine } from '../core/text.ts'
import { LOCAL_NAMES, LOCAL_SERVERS, type LocalServer } from './local-servers.ts'
import { listServer } from './reported.ts'

/** A server that answers. `server` is missing for an unknown program that speaks the same API. */
export interface FoundServer {
  baseUrl: string
  server?: LocalServer
  models: string[]
}

export interface FoundModels {
  servers: FoundServer[]
  /** Names of the variables that hold a key; never a key itself. */
  keys: string[]
}

export interface FindOptions {
  /** Addresses to ask; default `localAddresses`. */
  addresses?: readonly string[]
  apiKey?: string | undefined
  environment: (name: string) => string | undefined
  clock: Clock
}

/** Milliseconds that each address has to answer. */
const TIMEOUT = 1_000

/** Returns the names of this machine; in a container, also that of its host. */
export function localHosts({ inContainer }: { inContainer: boolean }): string[] {
  return ['127.0.0.1', ...(inContainer ? ['host.docker.internal'] : [])]
}

/** Returns the addresses on this machine; in a container, also those on its host. */
export function localAddresses(where: { inContainer: boolean }): string[] {
  return localHosts(where).flatMap(host =>
    LOCAL_NAMES.map(name => `http://${host}:${LOCAL_SERVERS[name].port}/v1`),
  )
}

export function isInContainer(): boolean {
  return existsSync('/.dockerenv') || existsSync('/run/.containerenv')
}

/** Asks all addresses at once; returns the servers that answer and the keys that are set. Never throws. */
export async function findModels({
  addresses = localAddresses({ inContainer: isInContainer() }),
  apiKey,
  environment,
  clock,
}: FindOptions): Promise<FoundModels> {
  const found = await Promise.all(
    addresses.map(async (baseUrl): Promise<FoundServer[]> => {
      const listed = await listServer({ baseUrl, apiKey, clock, timeout: TIMEOUT })
      if ('why' in listed) return []
      // The lists mark embedding and reranking models only in their names.
      const models = listed.models.filter(model => !/embed|rerank/i.test(model))
      return [{ baseUrl, ...(listed.server ? { server: listed.server } : {}), models }]
    }),
  )
  return { servers: found.flat(), keys: KEY_VARIABLES.filter(name => Boolean(environment(name))) }
}

/** Describes the servers that answer, a line each. */
export function describeServers({ servers }: FoundModels): string[] {
  if (servers.length === 0)
    return ['nothing answers at the usual ports of Ollama, LM Studio, llama.cpp and vLLM']
  return servers.map(({ server, baseUrl, models }) => {
    const program = server ? LOCAL_SERVERS[server].title : 'an OpenAI-compatible server'
    return `${program} at ${baseUrl}: ${toLine(models.join(', ')) || 'no models'}`
  })
}

/** Returns the variables that connect the first model found, or the names of those to set. */
export function describeVariables({ servers }: FoundModels): string {
  const first = servers.find(({ models }) => models.length > 0)
  return first
    ? `OPENAI_BASE_URL=${first.baseUrl} SUPERBLOOM_MODEL=${toLine(first.models[0] ?? '')}`
    : 'OPENAI_BASE_URL, OPENAI_API_KEY and SUPERBLOOM_MODEL'
}
