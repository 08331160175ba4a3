import { readFileSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import { z } from 'zod'

const text = z
  .string()
  .nullish()
  .transform(found => found || undefined)
  .optional()
const named = <Schema extends z.ZodType>(key: string, schema: Schema) =>
  z
    .array(z.object({ name: z.string(), [key]: schema }))
    .nullish()
    .transform(found => new Map((found ?? []).map(one => [one.name, one[key] as z.output<Schema>])))

const cluster = z.object({
  server: text,
  'certificate-authority': text,
  'certificate-authority-data': text,
  'insecure-skip-tls-verify': z.boolean().nullish(),
  'tls-server-name': text,
})
const login = z.object({
  apiVersion: z.string(),
  command: z.string(),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
})
const user = z.object({
  token: text,
  tokenFile: text,
  'client-certificate': text,
  'client-certificate-data': text,
  'client-key': text,
  'client-key-data': text,
  username: text,
  password: text,
  as: text,
  exec: login.nullish(),
  'auth-provider': z.object({ name: z.string() }).nullish(),
})
const context = z.object({ cluster: z.string(), user: text })
/** https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/ */
const kubeconfig = z.object({
  'current-context': text,
  clusters: named('cluster', cluster),
  users: named('user', user),
  contexts: named('context', context),
})

export type KubeCluster = z.output<typeof cluster>
export type KubeUser = z.output<typeof user>

/** A cluster and its user; `folder` is that of the file, for the paths in it. */
export interface KubeEntry {
  cluster: KubeCluster & { folder: string }
  user: KubeUser & { folder: string }
}

/**
 * Reads the kubeconfigs at the paths (between colons), of which the first that has a name wins, and returns
 * the entry of a context, or of the current one. Loads the YAML parser. Rejects with an Error that says what
 * is wrong.
 */
export async function readKubeconfig(paths: string, wanted: string | undefined): Promise<KubeEntry> {
  const { parse } = await import('yaml')
  const files = paths
    .split(delimiter)
    .filter(path => path !== '')
    .map(path => ({ folder: dirname(path), ...kubeconfig.parse(parse(readFileSync(path, 'utf8'))) }))
  const name = wanted ?? files.map(file => file['current-context']).find(Boolean) ?? ''
  const chosen = files.map(({ contexts }) => contexts.get(name)).find(Boolean)
  if (!chosen && wanted !== undefined) {
    const names = files.flatMap(({ contexts }) => [...contexts.keys()]).map(one => `"${one}"`)
    throw new Error(`it has no context "${wanted}", only ${names.join(', ') || 'none'}`)
  }
  const [cluster] = files.flatMap(({ folder, clusters }) => {
    const found = clusters.get(chosen?.cluster ?? '')
    return found ? [{ ...found, folder }] : []
  })
  const [user = { folder: '' }] = files.flatMap(({ folder, users }) => {
    const found = users.get(chosen?.user ?? '')
    return found ? [{ ...found, folder }] : []
  })
  if (!cluster?.server || !URL.canParse(cluster.server)) {
    throw new Error(`its context ${name && `"${name}"`} names no cluster with an address`)
  }
  return { cluster, user }
}
