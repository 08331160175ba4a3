import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { type Clock, parseTime } from '../clock.ts'
import { systemEnvironment } from '../env.ts'
import { describeError } from '../log.ts'
import { cleanText } from '../text.ts'
import { UpstreamFailure } from '../upstream/failure.ts'
import type { Opened } from '../upstream/request.ts'
import { type KubeEntry, type KubeUser, readKubeconfig } from './kubeconfig.ts'

/** The files of the account that a pod runs with. */
export const POD_ACCOUNT = {
  token: '/var/run/secrets/kubernetes.io/serviceaccount/token',
  ca: '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt',
}
/** Milliseconds that a program gets to log in. */
const LOGIN_LIMIT = 60_000

/** A user at a cluster. */
export interface Account {
  /** The API's base address: "https://nas:6443". */
  readonly url: string
  /** Returns what a request needs: it reads the token's file, and runs the login program when it must. */
  logIn(): Promise<Opened>
}

/** What a login program prints: https://kubernetes.io/docs/reference/access-authn-authz/authentication */
const execCredential = z.object({
  status: z.object({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.string().optional(),
  }),
})
type Credential = z.output<typeof execCredential>['status']

/** Reads the account of a kubeconfig's context, or of this pod. Rejects with UpstreamFailure. */
export async function readAccount(options: {
  kubeconfig: string | undefined
  context: string | undefined
  clock: Clock
}): Promise<Account> {
  const { kubeconfig, context, clock } = options
  try {
    const entry = kubeconfig === undefined ? toPodEntry() : await readKubeconfig(kubeconfig, context)
    const provider = entry.user['auth-provider']
    if (!provider) return createAccount(entry, clock)
    throw new Error(
      `its user logs in with the auth-provider "${provider.name}", which kubectl dropped: use exec`,
    )
  } catch (error) {
    throw new UpstreamFailure({
      kind: 'unreachable',
      what: 'The settings for Kubernetes cannot be used.',
      where: kubeconfig ?? 'the account of this pod',
      why: cleanText(describeError(error), 300),
      fix: 'Set KUBECONFIG to the path of a kubeconfig that works: `kubectl --kubeconfig PATH get pods` tries it.',
    })
  }
}

/** Returns the account of this pod as a kubeconfig would name it. */
function toPodEntry(): KubeEntry {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = systemEnvironment()
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
  return {
    cluster: { server, 'certificate-authority': POD_ACCOUNT.ca, folder: '/' },
    user: { tokenFile: POD_ACCOUNT.token, folder: '/' },
  }
}

function createAccount({ cluster, user }: KubeEntry, clock: Clock): Account {
  const url = (cluster.server ?? '').replace(/\/+$/, '')
  const isUnchecked = cluster['insecure-skip-tls-verify'] === true
  let last: Credential | undefined
  const readCredential = async (): Promise<Credential> => {
    const expiry = last?.expirationTimestamp
    if (last === undefined || (expiry !== undefined && (parseTime(expiry) ?? 0) <= clock.now())) {
      last = user.exec ? await runLogin(user.exec) : undefined
    }
    return last ?? {}
  }
  const logIn = async (): Promise<Opened> => {
    // A token would be sent in clear; a kubeconfig that allows it says so by skipping the check.
    if (!isUnchecked && url.startsWith('http:'))
      throw new Error('HTTP protocol is not allowed for its server')
    const { token: given, clientCertificateData, clientKeyData } = await readCredential()
    const token = user.tokenFile ? readText(user.folder, user.tokenFile).trim() : (user.token ?? given)
    return {
      url,
      headers: {
        ...toAuthorization(user, token),
        ...(user.as && { 'impersonate-user': user.as }),
      },
      connection: {
        ca: readPem(cluster.folder, cluster['certificate-authority-data'], cluster['certificate-authority']),
        servername: cluster['tls-server-name'],
        rejectUnauthorized: !isUnchecked,
        cert:
          clientCertificateData ??
          readPem(user.folder, user['client-certificate-data'], user['client-certificate']),
        key: clientKeyData ?? readPem(user.folder, user['client-key-data'], user['client-key']),
      },
    }
  }
  return { url, logIn: () => logIn().catch(error => Promise.reject(toLoginFailure(url, error))) }
}

function toAuthorization({ username, password = '' }: KubeUser, token: string | undefined) {
  if (token) return { authorization: `Bearer ${token}` }
  if (!username) return {}
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
}

/** Reads a certificate or a key: base64 in the kubeconfig wins over the file that it names. */
function readPem(folder: string, data: string | undefined, path: string | undefined): string | undefined {
  if (data) return Buffer.from(data, 'base64').toString()
  return path && readText(folder, path)
}

function readText(folder: string, path: string): string {
  return readFileSync(resolve(folder, path), 'utf8')
}

async function runLogin({ command, args, env }: NonNullable<KubeUser['exec']>): Promise<Credential> {
  const more = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]))
  const options = { env: { ...systemEnvironment(), ...more }, timeout: LOGIN_LIMIT }
  const { stdout } = await promisify(execFile)(command, args ?? [], options)
  return execCredential.parse(JSON.parse(stdout)).status
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
