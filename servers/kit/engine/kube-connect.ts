import type { IncomingMessage } from 'node:http'
import type { RequestOptions } from 'node:https'
import { delimiter } from 'node:path'
import type { KubeConfig } from '@kubernetes/client-node'
import { unlessAborted } from '../clock.ts'
import { describeError } from '../log.ts'
import { cleanText } from '../text.ts'
import { UpstreamFailure } from '../upstream/failure.ts'
import type { Send } from './dial.ts'

export interface KubePlace {
  kubeconfig: string | undefined
  context: string | undefined
}

/** A cluster's API with the credentials of its kubeconfig, renewed if they can be. */
export interface KubeConnection {
  /** The API's base address: "https://nas:6443". */
  address: string
  send: Send
}

/**
 * Loads @kubernetes/client-node and the kubeconfig. Rejects with an UpstreamFailure that says what is wrong
 * with it.
 */
export async function kubeConnect(place: KubePlace): Promise<KubeConnection> {
  const { KubeConfig } = await import('@kubernetes/client-node')
  const config = await load(place, () => new KubeConfig())
  const server = config.getCurrentCluster()?.server
  if (server === undefined || !URL.canParse(server)) {
    const context = place.context ?? config.getCurrentContext()
    throw toConfigFailure(
      place,
      `its context ${context ? `"${context}"` : ''} names no cluster with an address`,
    )
  }
  const base = new URL(server)
  return {
    address: `${base.origin}${base.pathname}`.replace(/\/+$/, ''),
    send: (sent, signal) => send(config, base, sent, signal),
  }
}

async function load(place: KubePlace, create: () => KubeConfig): Promise<KubeConfig> {
  const config = create()
  try {
    if (place.kubeconfig === undefined) {
      config.loadFromCluster()
      return config
    }
    const [first = '', ...more] = place.kubeconfig.split(delimiter).filter(path => path !== '')
    config.loadFromFile(first)
    for (const path of more) {
      const other = create()
      other.loadFromFile(path)
      config.mergeConfig(other, true)
    }
  } catch (error) {
    throw toConfigFailure(place, cleanText(describeError(error), 300))
  }
  if (place.context === undefined) return config
  if (config.getContextObject(place.context) === null) {
    const names = config.getContexts().map(({ name }) => `"${name}"`)
    throw toConfigFailure(place, `it has no context "${place.context}", only ${names.join(', ') || 'none'}`)
  }
  config.setCurrentContext(place.context)
  return config
}

async function send(
  config: KubeConfig,
  base: URL,
  sent: Parameters<Send>[0],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const url = new URL(`${base.origin}${base.pathname.replace(/\/+$/, '')}${sent.path}`)
  for (const [name, value] of Object.entries(sent.query)) url.searchParams.set(name, String(value))
  const options: RequestOptions = { method: sent.method, signal }
  try {
    // applyToHTTPSOptions runs the login command of the kubeconfig and reads the files that it names.
    await unlessAborted(config.applyToHTTPSOptions(options), signal)
  } catch (error) {
    signal.throwIfAborted()
    throw toLoginFailure(base.origin, error)
  }
  options.headers = { accept: 'application/json', ...options.headers, ...sent.headers }
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const { request } = url.protocol === 'http:' ? await import('node:http') : await import('node:https')
  request(url, options).on('response', resolve).on('error', reject).end(sent.body)
  return promise
}

function toConfigFailure(place: KubePlace, why: string): UpstreamFailure {
  return new UpstreamFailure({
    kind: 'unreachable',
    what: 'The settings for Kubernetes cannot be used.',
    where: place.kubeconfig ?? 'the account of this pod',
    why,
    fix: 'Set KUBECONFIG to the path of a kubeconfig that works: `kubectl --kubeconfig PATH get pods` tries it.',
  })
}

function toLoginFailure(address: string, error: unknown): UpstreamFailure {
  return new UpstreamFailure(
    {
      kind: 'unauthorized',
      what: 'The credentials for Kubernetes could not be had.',
      where: address,
      why: cleanText(describeError(error), 300),
      fix: 'Look at the user of the kubeconfig: the program or the file that it names must be there and work for this user.',
    },
    { cause: error },
  )
}
