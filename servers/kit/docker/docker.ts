import type { z } from 'zod'
import { type Clock, sleep } from '../clock.ts'
import { cleanText } from '../text.ts'
import { toUnexpected, toUpstreamFailure } from '../upstream/explain.ts'
import { UpstreamFailure } from '../upstream/failure.ts'
import type { RequestOptions } from '../upstream/request.ts'
import { type Client, createClient } from '../upstream/upstream.ts'
import { readCertificates, toPlace } from './address.ts'
import { inspectAnswer, listAnswer, type Stats, statsAnswer, toCpuPercent, versionAnswer } from './answers.ts'
import type { ContainerUse, Engine, LogsOptions } from './engine.ts'
import { readLines, toContainerEvent } from './events.ts'
import { explain, SETTING } from './explain.ts'
import { FrameError, readLogLines } from './log-lines.ts'

/** Milliseconds. */
const READ_LIMIT = 10_000
const START_LIMIT = 60_000
/** Milliseconds that a stop may take beyond the container's grace period. */
const STOP_SLACK = 30_000
const BETWEEN_LOOKS = 1000
const MAX_BYTES = 16 * 1024 * 1024
const NOT_MODIFIED = 304

export interface EngineOptions {
  /** "docker", "podman", or the name from the settings. */
  name: string
  /** A socket's path, or "unix://…", "tcp://host:port", "http://…", "https://…". */
  address: string
  /** A folder with ca.pem, cert.pem and key.pem for TLS. */
  certificates?: string | undefined
  clock: Clock
}

/**
 * Opens the API of Docker or Podman. It connects at the first call, and nothing has to be closed. Throws
 * UpstreamFailure if the address is not valid.
 */
export function openEngine(options: EngineOptions): Engine {
  const { name, certificates, clock } = options
  const place = toPlace(options.address, certificates)
  const title = toTitle(name)
  if (place === undefined) throw toWrongAddress(title, options.address)
  const { address, url, socketPath } = place
  const client = createClient({
    title,
    address: () => address,
    open: async () => ({ url, connection: { socketPath, ...readCertificates(certificates) } }),
    settings: { url: SETTING },
    redact: text => text,
    clock,
    limit: READ_LIMIT,
    maxBytes: MAX_BYTES,
    retries: false,
    explain,
  })
  const api: Api = { title, address, clock, client }
  return {
    name,
    address,
    version: async signal => cleanText(await client.get('/version', { schema: versionAnswer, signal }), 60),
    list: ({ label, signal }) => {
      const filters = JSON.stringify(label === undefined ? {} : { label: [label] })
      return client.get('/containers/json', { schema: listAnswer, query: { all: true, filters }, signal })
    },
    inspect: async (container, signal) => {
      try {
        return (await inspect(api, container, signal)).details
      } catch (error) {
        if (error instanceof UpstreamFailure && error.kind === 'not_found') return undefined
        throw error
      }
    },
    use: (container, signal) => readUse(api, container, signal),
    logs: (container, given, signal) => readLogs(api, container, given, signal),
    start: (container, signal) => change(api, container, 'start', { limit: START_LIMIT, signal }),
    stop: (container, grace, signal) => change(api, container, 'stop', { ...toGrace(grace), signal }),
    restart: async (container, grace, signal) =>
      void (await change(api, container, 'restart', { ...toGrace(grace), signal })),
    follow: (onEvent, signal, ready) => follow(api, onEvent, signal, ready),
  }
}

interface Api {
  title: string
  address: string
  clock: Clock
  client: Client
}

/** Returns "Docker", "Podman", or 'Container engine "nas"'. */
function toTitle(name: string): string {
  if (name === 'docker') return 'Docker'
  return name === 'podman' ? 'Podman' : `Container engine "${name}"`
}

function toGrace(seconds: number): RequestOptions {
  const grace = Math.max(0, Math.round(seconds))
  return { query: { t: grace }, limit: grace * 1000 + STOP_SLACK }
}

const toPath = (container: string, what: string) => `/containers/${encodeURIComponent(container)}/${what}`

/** Resolves with false if there was nothing to change. */
async function change(api: Api, container: string, what: string, options: RequestOptions): Promise<boolean> {
  const given = { ...options, accept: [NOT_MODIFIED] }
  return (await api.client.raw('POST', toPath(container, what), given)).status !== NOT_MODIFIED
}

function inspect({ client }: Api, container: string, signal: AbortSignal | undefined) {
  return client.get(toPath(container, 'json'), { schema: inspectAnswer, signal })
}

async function readUse(api: Api, container: string, signal: AbortSignal | undefined): Promise<ContainerUse> {
  const options = { schema: statsAnswer, query: { stream: false }, signal }
  const measure = () => api.client.get(toPath(container, 'stats'), options)
  const { details, memoryLimitBytes } = await inspect(api, container, signal)
  const ended = details.state !== 'running' && details.state !== 'paused'
  const stats = ended ? undefined : await measure()
  const cpuPercent = stats && (await toCpu(api, stats, measure, signal))
  if (cpuPercent === undefined) {
    throw new UpstreamFailure({
      kind: 'refused',
      what: `The container ${details.name} uses nothing: it does not run.`,
      where: api.address,
      why: `${api.title} has no figures for it; its state is "${details.state}"`,
      fix: 'Start it first.',
    })
  }
  return { cpuPercent, memoryBytes: stats?.memoryBytes ?? 0, memoryLimitBytes }
}

/** Computes the CPU use from two samples: Docker sends both in one answer, Podman needs a second request. */
async function toCpu(
  { clock }: Api,
  stats: Stats,
  again: () => Promise<z.output<typeof statsAnswer>>,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  if (stats.now === undefined) return undefined
  if (stats.before !== undefined) return toCpuPercent(stats.before, stats.now)
  await sleep(clock, BETWEEN_LOOKS, signal)
  const { now } = await again()
  return now && toCpuPercent(stats.now, now)
}

async function readLogs(
  api: Api,
  container: string,
  options: LogsOptions,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const { terminal } = await inspect(api, container, signal)
  const { tail, since } = options
  const from = since === undefined ? undefined : (since / 1000).toFixed(3)
  const query = { stdout: true, stderr: true, tail, since: from }
  return api.client.stream(toPath(container, 'logs'), { query, signal }, (body, failed) =>
    readLogLines(body, { framed: !terminal, tail }).catch(error => {
      throw error instanceof FrameError ? toUnexpected(failed, error.message) : error
    }),
  )
}

async function follow(
  { title, address, client }: Api,
  onEvent: Parameters<Engine['follow']>[0],
  signal: AbortSignal,
  ready: () => void,
): Promise<void> {
  const query = { filters: JSON.stringify({ type: ['container'] }) }
  const read = async (body: AsyncIterable<Buffer>) => {
    ready()
    for await (const line of readLines(body)) {
      const event = toContainerEvent(line)
      if (event) onEvent(event)
    }
  }
  try {
    await client.stream('/events', { query, endless: true, signal }, async (body, failed) => {
      await read(body).catch(error => {
        throw error instanceof SyntaxError ? toUnexpected(failed, error.message) : error
      })
      throw toUpstreamFailure(failed, {
        kind: 'unreachable',
        what: `${title} ended the stream of its events.`,
        why: `the connection to ${address} was closed`,
        fix: `It is opened again by itself; if this repeats, look whether ${title} runs.`,
        transient: true,
      })
    })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function toWrongAddress(title: string, address: string): UpstreamFailure {
  return new UpstreamFailure({
    kind: 'unreachable',
    what: `${title} has no address that can be used.`,
    where: cleanText(address, 100),
    why: address.startsWith('ssh:')
      ? 'addresses by SSH are not supported'
      : 'it is no path of a socket and no address such as tcp://nas:2375',
    fix: 'Set it to unix:///var/run/docker.sock, tcp://host:2375 or https://host:2376. For SSH, forward the socket (ssh -L) and name that.',
  })
}
