import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProgram } from '../../support/program.ts'
import { until } from '../../support/until.ts'
import { makeBusyboxArchive } from './busybox.ts'
import { removeFolder, startDockerd } from './dockerd.ts'
import { buildKubernetes } from './kubernetes-build.ts'
import { freePort } from './scratch.ts'

/** A Kubernetes of one node, on loopback. Disposing ends all of it. */
export interface Kubernetes extends AsyncDisposable {
  /**
   * The file with the contexts "admin" (current), "viewer" (no rights) and "stranger" (a token that does not
   * exist).
   */
  readonly kubeconfig: string
  /** Sends a request as the admin; rejects with the answer's text if it is refused. */
  api(method: string, path: string, body?: unknown): Promise<unknown>
}

/** The kernel settings that kubelet changes. */
const KERNEL = ['vm/overcommit_memory', 'kernel/panic', 'kernel/panic_on_oops']

/**
 * Builds Kubernetes if necessary, and starts it with its own Docker: about half a minute. Needs root. Its
 * pods need `hostNetwork: true` and `imagePullPolicy: Never`.
 */
export async function startKubernetes(): Promise<Kubernetes> {
  const programs = await buildKubernetes()
  const folder = mkdtempSync(join(tmpdir(), 'kubernetes-'))
  await using opened = new AsyncDisposableStack()
  opened.defer(() => removeFolder(folder))
  keepKernel(opened)
  const ports = await findPorts()
  const kubeconfig = writeConfigs(folder, ports)
  const start = async (name: string, args: readonly string[]) =>
    opened.use(await startProgram(name.includes('kube') ? join(programs, name) : name, args, { cwd: folder }))
  const docker = opened.use(await startLabDocker(folder))
  await start('etcd', toEtcd(folder, ports))
  const server = await start('kube-apiserver', toServer(folder, ports))
  const api = (method: string, path: string, body?: unknown) => call(ports.api, method, path, body)
  try {
    await until(
      'the API is ready',
      () =>
        api('GET', '/readyz').then(
          () => true,
          () => false,
        ),
      { within: 60_000 },
    )
    await start('kube-controller-manager', toManager(folder, kubeconfig, ports.manager))
    await start('kube-scheduler', [...toCommon(kubeconfig, ports.scheduler)])
    await start('kubelet', toKubelet(folder, kubeconfig, docker.socket))
    await until('the node is ready', async () => isReady(await api('GET', '/api/v1/nodes')), {
      within: 90_000,
    })
  } catch (error) {
    throw new Error(`Kubernetes did not start. Its API wrote:\n${server.stderr.slice(-4000)}`, {
      cause: error,
    })
  }
  const owned = opened.move()
  return { kubeconfig, api, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

type Ports = Record<'etcd' | 'peer' | 'api' | 'manager' | 'scheduler' | 'kubelet' | 'health', number>

async function findPorts(): Promise<Ports> {
  const names = ['etcd', 'peer', 'api', 'manager', 'scheduler', 'kubelet', 'health'] as const
  const found = await Promise.all(names.map(async name => [name, await freePort()] as const))
  return Object.fromEntries(found) as Ports
}

/**
 * Starts Docker with a wrapped runc that drops the negative oom_score_adj of kubelet's containers, which
 * needs a capability.
 */
async function startLabDocker(folder: string) {
  const wrapper = join(folder, 'runc')
  writeFileSync(
    wrapper,
    `#!/bin/bash
previous=
for argument in "$@"; do
  [ "$previous" = --bundle ] && sed -i -E 's/"oomScoreAdj":-[0-9]+/"oomScoreAdj":0/' "$argument/config.json"
  previous="$argument"
done
exec /usr/sbin/runc "$@"
`,
  )
  chmodSync(wrapper, 0o755)
  const docker = await startDockerd(`--add-runtime=lab=${wrapper}`, '--default-runtime=lab')
  const wait = 'trap "exit 0" TERM INT; while :; do sleep 3600 & wait $!; done'
  const entry = `ENTRYPOINT ${JSON.stringify(['/bin/sh', '-c', wait])}`
  mkdirSync(join(folder, 'image'))
  await docker.docker('import', '--change', entry, makeBusyboxArchive(join(folder, 'image')), 'lab/pause:1')
  return docker
}

function writeConfigs(folder: string, ports: Ports): string {
  execFileSync('openssl', ['genrsa', '-out', join(folder, 'sa.key'), '2048'], { stdio: 'ignore' })
  writeFileSync(join(folder, 'tokens.csv'), 'labtoken,admin,admin,system:masters\nviewtoken,viewer,viewer,\n')
  const users = { admin: 'labtoken', viewer: 'viewtoken', stranger: 'no-such-token' }
  const cluster = { server: `https://127.0.0.1:${ports.api}`, 'insecure-skip-tls-verify': true }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'admin',
    clusters: [{ name: 'lab', cluster }],
    users: Object.entries(users).map(([name, token]) => ({ name, user: { token } })),
    contexts: Object.keys(users).map(name => ({ name, context: { cluster: 'lab', user: name } })),
  }
  const kubelet = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: '127.0.0.1',
    port: ports.kubelet,
    readOnlyPort: 0,
    healthzPort: ports.health,
    healthzBindAddress: '127.0.0.1',
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    failSwapOn: false,
    cgroupDriver: 'cgroupfs',
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    makeIPTablesUtilChains: false,
    evictionHard: { 'nodefs.available': '0%', 'imagefs.available': '0%', 'memory.available': '10Mi' },
    resolvConf: '',
  }
  writeFileSync(join(folder, 'kubelet.json'), JSON.stringify(kubelet))
  const path = join(folder, 'kubeconfig')
  writeFileSync(path, JSON.stringify(config))
  return path
}

function toEtcd(folder: string, ports: Ports): string[] {
  const client = `http://127.0.0.1:${ports.etcd}`
  const peer = `http://127.0.0.1:${ports.peer}`
  return [
    `--data-dir=${folder}/etcd`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--unsafe-no-fsync',
  ]
}

function toServer(folder: string, ports: Ports): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${ports.api}`,
    '--insecure-port=0',
    `--cert-dir=${folder}/certificates`,
    `--token-auth-file=${folder}/tokens.csv`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.0.0.0/24',
    `--service-account-key-file=${folder}/sa.key`,
    `--service-account-signing-key-file=${folder}/sa.key`,
    '--service-account-issuer=https://kubernetes.default.svc',
    '--disable-admission-plugins=ServiceAccount',
    '--endpoint-reconciler-type=none',
    '--kubelet-preferred-address-types=Hostname',
  ]
}

function toCommon(kubeconfig: string, port: number): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    '--port=0',
    '--leader-elect=false',
  ]
}

function toManager(folder: string, kubeconfig: string, port: number): string[] {
  return [...toCommon(kubeconfig, port), `--service-account-private-key-file=${folder}/sa.key`]
}

function toKubelet(folder: string, kubeconfig: string, socket: string): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--config=${folder}/kubelet.json`,
    `--root-dir=${folder}/kubelet`,
    `--cert-dir=${folder}/kubelet-certificates`,
    '--container-runtime=docker',
    `--docker-endpoint=unix://${socket}`,
    '--pod-infra-container-image=lab/pause:1',
    '--hostname-override=localhost',
    `--volume-plugin-dir=${folder}/plugins`,
  ]
}

function keepKernel(opened: AsyncDisposableStack): void {
  for (const name of KERNEL) {
    const path = `/proc/sys/${name}`
    const before = readFileSync(path, 'utf8')
    opened.defer(() => writeFileSync(path, before))
  }
}

function isReady(nodes: unknown): boolean {
  const { items } = nodes as { items: { status: { conditions?: { type: string; status: string }[] } }[] }
  return items.some(({ status }) =>
    status.conditions?.some(one => one.type === 'Ready' && one.status === 'True'),
  )
}

function call(port: number, method: string, path: string, body?: unknown): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const headers = { authorization: 'Bearer labtoken', 'content-type': 'application/json' }
  const options = { host: '127.0.0.1', port, method, path, headers, rejectUnauthorized: false }
  const sent = request(options, answer => {
    let text = ''
    answer.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
    answer.on('end', () => {
      if ((answer.statusCode ?? 0) >= 300) return reject(new Error(text))
      resolve(text.startsWith('{') ? JSON.parse(text) : text)
    })
  })
  sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
  return promise
}
