import { expect, test } from 'vitest'
import { ToolFailure } from '../../kit/failure.ts'
import { createFakeClock } from '../../kit/testing/fake-clock.ts'
import { createFakeEngine, fakeContainer } from '../../kit/testing/fake-engine.ts'
import { assertReadable } from '../../kit/testing/readable.ts'
import type { Tool } from '../../kit/tool.ts'
import type { Sources } from '../containers/sources.ts'
import { mapBounded } from '../containers/status.ts'
import { createFakeCluster, fakePod, fakeWorkload } from '../testing/fake-cluster.ts'
import { getContainerLogs } from './get-container-logs.ts'
import { getContainerStatus } from './get-container-status.ts'
import { restartContainer } from './restart-container.ts'

const HOUR = 3_600_000
const clock = createFakeClock(2 * HOUR)

async function call(tool: Tool, args: Record<string, unknown>) {
  const { content, structuredContent, isError } = await tool.call(args, {
    clock,
    log: () => undefined,
    signal: new AbortController().signal,
  })
  const text = content[0]?.type === 'text' ? content[0].text : ''
  assertReadable(text)
  return {
    text,
    data: { ...(structuredContent as Record<string, unknown> | undefined) },
    isError: isError === true,
  }
}

function home() {
  const docker = createFakeEngine('docker', [
    fakeContainer('media-plex-1', {
      health: 'unhealthy',
      healthOutput: 'curl: (7)\u001b[0m refused',
      labels: { 'com.docker.compose.service': 'plex' },
    }),
    fakeContainer('web', { health: 'healthy', restarts: 1 }),
    fakeContainer('old', { state: 'exited', exitCode: 137 }),
    fakeContainer('hungry', { state: 'exited', exitCode: 137, oom: true }),
    fakeContainer('loop', { state: 'restarting', restarts: 12, exitCode: 1 }),
  ])
  const podman = createFakeEngine('podman', [fakeContainer('web')])
  const cluster = createFakeCluster({
    pods: [
      fakePod('web-1', { labels: { app: 'web' } }),
      fakePod('api-1', { labels: { app: 'api' }, status: 'CrashLoopBackOff', ready: false, restarts: 3 }),
      fakePod('api-2', { labels: { app: 'api' } }),
      fakePod('lonely', { labels: { app: 'lonely' } }),
    ],
    workloads: [fakeWorkload('front', { selector: 'app=web' }), fakeWorkload('api', { replicas: 2 })],
  })
  const sources: Sources = { engines: () => [docker, podman], clusters: () => [cluster] }
  return { docker, podman, cluster, sources }
}

const names = (data: Record<string, unknown>) =>
  (data['containers'] as { name: string; engine: string }[]).map(({ name, engine }) => `${engine} ${name}`)

test('all are told, each with its engine, its problem and what it uses', async () => {
  const { sources } = home()
  const { text, data } = await call(getContainerStatus({ sources, clock }), {})
  expect(names(data)).toHaveLength(10)
  expect(text).toMatch(/^10 containers, 6 running, 4 with a problem\.$/m)
  expect(text).toContain(
    `- "media-plex-1" (docker): running, unhealthy, up 2 h 0 min, CPU 150 % of a core, memory 300 MiB of 2 GiB. PROBLEM: "unhealthy"; its check says "curl: (7) [0m refused".`,
  )
  expect(text).toContain('PROBLEM: "restarting again and again, it ended with code 1 the last time"')
  expect(text).toContain('- "old" (docker): exited.')
  expect(text).toContain('- "hungry" (docker): exited. PROBLEM: "ended for using too much memory".')
  expect(text).toContain('- "home/web-1" (k8s): "Running", up 2 h 0 min, CPU 5 % of a core, memory 1 MiB.')
  expect(text).toContain('- "home/api-1" (k8s): "CrashLoopBackOff", 3 restarts. PROBLEM: "CrashLoopBackOff".')
  expect(data).toMatchObject({ counts: { all: 10, running: 6, unhealthy: 4 }, failed: [] })
})

test.each([
  [{ container: 'WEB' }, ['docker web', 'podman web']],
  [{ container: 'web', engine: 'Podman' }, ['podman web']],
  [{ container: '/web', engine: 'docker' }, ['docker web']],
  [{ container: 'plex' }, ['docker media-plex-1']],
  [{ container: 'api' }, ['k8s home/api-1', 'k8s home/api-2']],
  [{ container: 'home/api-2' }, ['k8s home/api-2']],
  [{ container: fakeContainer('old').id.slice(0, 12) }, ['docker old']],
  [{ unhealthy: true }, ['k8s home/api-1', 'docker hungry', 'docker loop', 'docker media-plex-1']],
  [{ engine: 'podman' }, ['podman web']],
])('with %j it tells %j', async (args, expected) => {
  const { sources } = home()
  expect(names((await call(getContainerStatus({ sources, clock }), args)).data).sort()).toEqual(
    expected.sort(),
  )
})

test('a long list is cut, and only what is shown is measured', async () => {
  const { sources, docker } = home()
  const { text } = await call(getContainerStatus({ sources, clock }), {
    limit: 6,
    engine: 'docker',
    offset: 3,
  })
  expect(docker.asked.filter(one => one.startsWith('use'))).toEqual(['use web'])
  expect(text).not.toContain('hungry')
  expect((await call(getContainerStatus({ sources, clock }), { limit: 2 })).text).toContain(
    '2 of 10 containers; call again with offset 2 for more.',
  )
  const { docker: other, sources: again } = home()
  await call(getContainerStatus({ sources: again, clock }), { use: false })
  expect(other.asked.filter(one => one.startsWith('use'))).toEqual([])
})

test('an engine that is down hides no other, and where all are down the first is told', async () => {
  const { sources, docker, podman } = home()
  docker.fail(new ToolFailure({ what: 'Docker is down.', where: '/run', why: 'no socket', fix: 'start it' }))
  const { text, isError } = await call(getContainerStatus({ sources, clock }), {})
  expect(isError).toBe(false)
  expect(text).toContain('Not asked: docker. Docker is down. no socket')
  podman.fail(new Error('broken'))
  const none = { engines: () => [docker, podman], clusters: () => [] }
  const all = await call(getContainerStatus({ sources: none, clock }), {})
  expect(all).toMatchObject({ isError: true, text: expect.stringMatching(/^Docker is down\./) })
  const absent = { engines: () => [], clusters: () => [] }
  expect((await call(getContainerStatus({ sources: absent, clock }), {})).text).toContain('ENGINE_URL')
})

test.each([
  ['nothing', {}, /no container or pod called "nothing"[\s\S]*there is "home\/api-1" \(k8s\)/],
  ['med', {}, /there is "media-plex-1" \(docker\)/],
  ['web', {}, /means more than one[\s\S]*with engine/],
  ['api', {}, /means more than one[\s\S]*the full name of one/],
  ['web', { engine: 'lxc' }, /no engine or cluster called "lxc"[\s\S]*docker, podman, k8s/],
])('logs of %j are of none', async (container, more, words) => {
  const { sources } = home()
  const { isError, text } = await call(getContainerLogs({ sources, clock }), { container, ...more })
  expect(isError).toBe(true)
  expect(text).toMatch(words)
})

test('logs: the last lines, cleaned, of a span, and those with a word', async () => {
  const { sources, docker } = home()
  const tool = getContainerLogs({ sources, clock })
  const last = await call(tool, { container: 'plex', lines: 2, since: '15m' })
  expect(last.text).toContain('The last 2 lines of "media-plex-1" (docker):\n```\nline 0\nline 1\n```')
  expect(last.data).toMatchObject({ count: 2, lines: 'line 0\nline 1' })
  expect(docker.asked.at(-1)).toBe(`logs media-plex-1 {"tail":2,"since":${2 * HOUR - 900_000}}`)
  const found = await call(tool, { container: 'plex', lines: 1, contains: 'LINE' })
  expect(found.text).toContain('The last 1 line of 6 with "LINE"')
  expect(found.data).toMatchObject({ count: 1, found: 6, lines: 'line 5' })
  expect((await call(tool, { container: 'home/web-1' })).data).toMatchObject({ lines: 'from the pod' })
})

test.each([
  [
    'plex',
    {},
    'restart media-plex-1 10',
    /"media-plex-1" \(docker\) was restarted and is running, its health check says unhealthy/,
  ],
  ['web', { engine: 'podman', grace: 0 }, 'restart web 0', /"web" \(podman\) was restarted and is running\./],
  ['loop', {}, 'restart loop 10', /is restarting/],
  ['web-1', {}, 'delete home/web-1', /its workload makes a new one/],
  ['front', {}, 'restart deployment front', /"deployment home\/front" \(k8s\) are restarted one by one/],
  ['api', { confirm: true }, 'restart deployment api', /are restarted/],
  ['lonely', { confirm: true }, 'delete home/lonely', /is deleted/],
])('a restart of %j with %j is done', async (container, more, asked, words) => {
  const { sources, docker, podman, cluster } = home()
  const { data, text } = await call(restartContainer({ sources, ownHost: 'box' }), { container, ...more })
  expect([...docker.asked, ...podman.asked, ...cluster.asked]).toContain(asked)
  expect(data).toMatchObject({ done: true })
  expect(text).toMatch(words)
})

test.each([
  ['old', /would start "old", which does not run now \(exited\)/],
  ['api', /would restart 2 pods of "deployment home\/api", one after the other/],
  ['lonely', /would delete the pod "home\/lonely"[\s\S]*No Deployment/],
  ['media-plex-1', /the container that this very server runs in[\s\S]*This server ends/],
])('a restart of %j would surprise, and is only told', async (container, words) => {
  const { sources, docker, podman, cluster } = home()
  const ownHost = fakeContainer('media-plex-1').id.slice(0, 12)
  const { data, text } = await call(restartContainer({ sources, ownHost }), { container })
  expect(data).toMatchObject({ done: false, preview: { would: expect.any(String) } })
  expect(text).toMatch(words)
  const all = [...docker.asked, ...podman.asked, ...cluster.asked]
  expect(all.filter(one => /^(restart|delete|start) /.test(one))).toEqual([])
})

test('a container that ends at once after its restart is a failure that says so', async () => {
  const { sources, docker } = home()
  docker.restart = async id => {
    docker.containers.set('loop', fakeContainer('loop', { id, state: 'exited', exitCode: 2 }))
  }
  const { isError, text } = await call(restartContainer({ sources, ownHost: 'box' }), { container: 'loop' })
  expect(isError).toBe(true)
  expect(text).toMatch(/was restarted and ended at once[\s\S]*with code 2[\s\S]*get_container_logs/)
})

test('work is done for all, in order, never more than so many at once', async () => {
  let running = 0
  let most = 0
  const results = await mapBounded([5, 1, 4, 2, 3], 2, async item => {
    running++
    most = Math.max(most, running)
    for (let turn = 0; turn < item; turn++) await Promise.resolve()
    running--
    return item * 2
  })
  expect(results).toEqual([10, 2, 8, 4, 6])
  expect(most).toBe(2)
})
