import type { z } from 'zod'
import { type Clock, sleep } from '../clock.ts'
import { cleanText } from '../text.ts'
import { UpstreamFailure } from '../upstream/failure.ts'
import { type Inspected, inspectAnswer, listAnswer, versionAnswer } from './answers.ts'
import { connect, toAddressText, toPlace } from './connect.ts'
import { createDial, type Dial, type DialOptions } from './dial.ts'
import type { ContainerUse, Engine } from './engine.ts'
import { readLines, toContainerEvent } from './engine-events.ts'
import { explainAnswer, explainError, type Request, toFailure, toUnexpected } from './explain.ts'
import { FrameError, readLogLines } from './log-lines.ts'
import { type Stats, statsAnswer, toCpuPercent } from './use.ts'

/** Milliseconds. */
const READ_LIMIT = 10_000
const START_LIMIT = 60_000
/** Milliseconds that a stop may take beyond the container's grace period. */
const STOP_SLACK = 30_000
const BETWEEN_LOOKS = 1000
const API = 'the API of Docker or Podman'
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
  const address = toAddressText(place)
  const dial = createDial({
    title,
    api: API,
    address: () => address,
    clock,
    open: () => connect(place, certificates),
    explainAnswer,
    explainError,
  })
  const api: Api = { title, address, clock, dial }
  return {
    name,
    address,
    version: async signal => cleanText(await read(api, '/version', versionAnswer, { signal }), 60),
    list: ({ label, signal }) => {
      const filters = JSON.stringify(label === undefined ? {} : { label: [label] })
      return read(api, '/containers/json', listAnswer, { query: { all: true, filters }, signal })
    },
    inspect: async (container, signal) =>
      (
        await inspect(api, container, signal).catch(error => {
          if (error instanceof UpstreamFailure && error.kind === 'not_found') return undefined
          throw error
        })
      )?.details,
    use: (container, signal) => readUse(api, container, signal),
    logs: (container, given, signal) => readLogs(api, container, given, signal),
    start: async (container, signal) =>
      (await change(api, container, 'start', { limit: START_LIMIT, signal })) !== NOT_MODIFIED,
    stop: async (container, grace, signal) =>
      (await change(api, container, 'stop', { ...toGrace(grace), signal })) !== NOT_MODIFIED,
    restart: async (container, grace, signal) => {
      await change(api, container, 'restart', { ...toGrace(grace), signal })
    },
    follow: (onEvent, signal, ready) => follow(api, onEvent, signal, ready),
  }
}

interface Api {
  title: string
  address: string
  clock: Clock
  dial: Dial
}

/** Returns "Docker", "Podman", or 'Container engine "nas"'. */
function toTitle(name: string): string {
  if (name === 'docker') return 'Docker'
  return name === 'podman' ? 'Podman' : `Container engine "${name}"`
}

function toGrace(seconds: number): DialOptions {
  const grace = Math.max(0, Math.round(seconds))
  return { query: { t: grace }, limit: grace * 1000 + STOP_SLACK }
}

const toPath = (container: string, what: string) => `/containers/${encodeURIComponent(container)}/${what}`

async function change(api: Api, container: string, what: string, options: DialOptions): Promise<number> {
  const given = { ...options, method: 'POST', accept: [NOT_MODIFIED] } as const
  return (await api.dial.text(toPath(container, what), given)).status
}

function read<Schema extends z.ZodType>(
  api: Api,
  path: string,
  schema: Schema,
  options: Omit<DialOptions, 'limit'>,
): Promise<z.output<Schema>> {
  return api.dial.json(path, schema, { limit: READ_LIMIT, ...options })
}

const toRequest = (api: Api, path: string): Request => ({ ...api, api: API, method: 'GET', path })

function inspect(api: Api, container: string, signal: AbortSignal | undefined): Promise<Inspected> {
  return read(api, toPath(container, 'json'), inspectAnswer, { signal })
}

async function readUse(api: Api, container: string, signal: AbortSignal | undefined): Promise<ContainerUse> {
  const path = toPath(container, 'stats')
  const look = () => read(api, path, statsAnswer, { query: { stream: false }, signal })
  const { details, memoryLimitBytes } = await inspect(api, container, signal)
  const ended = details.state !== 'running' && details.state !== 'paused'
  const stats = ended ? undefined : await look()
  const cpuPercent = stats && (await toCpu(api, stats, look, signal))
  if (cpuPercent === undefined) {
    throw toFailure(toRequest(api, path), {
      kind: 'refused',
      what: `The container ${details.name} uses nothing: it does not run.`,
      why: `${api.title} has no figures for it; its state is "${details.state}"`,
      fix: 'Start it first.',
    })
  }
  return { cpuPercent, memoryBytes: stats?.memoryBytes ?? 0, memoryLimitBytes }
}

/** Computes the CPU use from two samples: Docker sends both in one answer, Podman needs a second request. */
async function toCpu(
  api: Api,
  stats: Stats,
  again: () => Promise<Stats>,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  if (stats.now === undefined) return undefined
  if (stats.before !== undefined) return toCpuPercent(stats.before, stats.now)
  await sleep(api.clock, BETWEEN_LOOKS, signal)
  const { now } = await again()
  return now && toCpuPercent(stats.now, now)
}

async function readLogs(
  api: Api,
  container: string,
  options: { tail: number; since?: number },
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const { terminal } = await inspect(api, container, signal)
  const { tail, since } = options
  const from = since === undefined ? {} : { since: (since / 1000).toFixed(3) }
  const query = { stdout: true, stderr: true, tail, ...from }
  const path = toPath(container, 'logs')
  return api.dial.stream(path, { query, limit: READ_LIMIT, signal }, body =>
    readLogLines(body, { framed: !terminal, tail }).catch(error => {
      throw error instanceof FrameError ? toUnexpected(toRequest(api, path), error.message) : error
    }),
  )
}

async function follow(
  api: Api,
  onEvent: Parameters<Engine['follow']>[0],
  signal: AbortSignal,
  ready: () => void,
): Promise<void> {
  const path = '/events'
  const request = toRequest(api, path)
  const filters = JSON.stringify({ type: ['container'] })
  const told = async (body: AsyncIterable<Buffer>) => {
    ready()
    for await (const line of readLines(body)) {
      const event = toContainerEvent(line)
      if (event) onEvent(event)
    }
  }
  try {
    await api.dial.stream(path, { query: { filters }, limit: READ_LIMIT, endless: true, signal }, body =>
      told(body).catch(error => {
        throw error instanceof SyntaxError ? toUnexpected(request, error.message) : error
      }),
    )
  } catch (error) {
    if (signal.aborted) return
    throw error
  }
  if (signal.aborted) return
  throw toFailure(request, {
    kind: 'unreachable',
    what: `${api.title} ended the stream of its events.`,
    why: `the connection to ${api.address} was closed`,
    fix: `It is opened again by itself; if this repeats, look whether ${api.title} runs.`,
    transient: true,
  })
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
