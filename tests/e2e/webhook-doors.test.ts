import { request } from 'node:http'
import { expect, test } from 'vitest'
import { systemClock } from '../../hub/core/clock.ts'
import { runCli } from '../support/cli.ts'
import { send } from '../support/raw-http.ts'
import { until } from '../support/until.ts'
import {
  type Answer,
  bearer,
  CONFIG,
  deliver,
  listEvents,
  post,
  SECRET,
  sign,
  startHub,
} from '../support/webhooks.ts'

test('who may: the token, or the secret as a bearer, as a password, or as a signature', async () => {
  await using hub = await startHub()
  const bodies = Array.from({ length: 5 }, (_none, at) => `{"rang": "été", "at": ${at}}`)
  const [first = '', second = ''] = bodies.slice(3)
  const basic = (password: string) => ({
    Authorization: `Basic ${Buffer.from(`radarr:${password}`).toString('base64')}`,
  })
  const right = [
    bearer(hub.token),
    bearer(SECRET),
    basic(SECRET),
    sign(first),
    { ...bearer('wrong'), ...sign(second) },
  ]
  for (const [index, headers] of right.entries()) {
    const answer = await post(hub, 'door', bodies[index] ?? '', headers)
    expect([index, answer.status, answer.text]).toEqual([index, 202, expect.stringContaining('evt_')])
  }
  expect(await listEvents(hub)).toHaveLength(right.length)
  expect((await listEvents(hub))[0]?.payload).toMatchObject({ rang: 'été' })
})

test('who may not: 401, nothing stored, and no trace of what was presented', async () => {
  await using hub = await startHub()
  const body = '{"rang":true}'
  const wrong: [string, Record<string, string>, RegExp][] = [
    ['door', {}, /Webhook at \/hooks\/door needs the token: send "Authorization: Bearer/],
    ['door', bearer('wr0ng-secret'), /does not take this token/],
    ['door', sign(body, 'wr0ng-secret'), /does not take this token/],
    ['door', sign(`${body} `), /does not take this token/],
    ['door', { 'X-Hub-Signature-256': 'sha256=wr0ng-secret' }, /does not take this token/],
    [
      'door',
      { 'X-Hub-Signature-256': sign(body)['X-Hub-Signature-256'].replace('sha256=', 'sha1=') },
      /does not/,
    ],
    ['plain', bearer(SECRET), /does not take this token/],
    ['plain', sign(body), /does not take this token/],
    ['other', bearer(SECRET), /does not take this token/],
    ['constructor', bearer('wr0ng-secret'), /does not take this token/],
  ]
  for (const [name, headers, words] of wrong) {
    const answer = await post(hub, name, body, headers)
    expect([name, answer.status]).toEqual([name, 401])
    expect(answer.json).toMatchObject({
      error: { code: 'unauthorized', message: expect.stringMatching(words) },
    })
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="superbloom"')
    expect(answer.text).not.toContain(SECRET)
  }
  expect((await send(`${hub.url}/hooks/door?token=${hub.token}`, { method: 'POST', body })).status).toBe(401)
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => post(hub, 'door', body, bearer('wr0ng-secret'))),
  )
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(5)
  expect((await post(hub, 'door', body, bearer(SECRET))).status).toBe(202)
  expect(await listEvents(hub)).toHaveLength(1)
  const logged = JSON.stringify(hub.logs.all)
  for (const secret of ['wr0ng-secret', SECRET, hub.token]) expect(logged).not.toContain(secret)
})

test('what may come in', async () => {
  await using hub = await startHub()
  const right = bearer(hub.token)
  const cases: [string, string, Record<string, string>, number, RegExp][] = [
    ['door', '{half', {}, 400, /not the JSON/],
    ['door', 'x'.repeat(1024 * 1024 + 1), {}, 413, /over 1048576 bytes/],
    ['door', '{}', { 'Content-Encoding': 'gzip' }, 400, /encoding/],
    ['door', '--x', { 'Content-Type': 'multipart/form-data; boundary=x' }, 400, /send JSON, a form or text/],
    ['door', '{}', { Host: 'evil.example' }, 403, /Host .*evil\.example/],
    ['door', '{}', { Origin: 'https://evil.example' }, 403, /Origin/],
    ['Door', '{}', {}, 404, /lower-case letters/],
    [`${'d'.repeat(65)}`, '{}', {}, 404, /at most 64/],
    ['-door', '{}', {}, 404, /lower-case/],
    ['a%2Fb', '{}', {}, 404, /lower-case/],
  ]
  for (const [name, body, headers, status, words] of cases) {
    const answer = await post(hub, name, body, { ...right, ...headers })
    expect([name, answer.status]).toEqual([name, status])
    expect(answer.text).toMatch(words)
    expect(answer.text).not.toMatch(/\bat .*\.ts:|node_modules/)
  }
  expect((await send(`${hub.url}/hooks/door`, { headers: right })).status).toBe(404)
  expect(await listEvents(hub)).toEqual([])
  await deliver(hub, 'form', 'a=1&b=2', { 'Content-Type': 'application/x-www-form-urlencoded' })
  await deliver(hub, 'text', 'the bell rang', { 'Content-Type': 'text/plain' })
  await deliver(hub, 'long', { text: 'x'.repeat(500_000) })
  const payloads = Object.fromEntries((await listEvents(hub)).map(({ type, payload }) => [type, payload]))
  expect(payloads).toMatchObject({
    'webhook.form': { a: '1', b: '2' },
    'webhook.text': { text: 'the bell rang' },
    'webhook.long': { text: expect.stringMatching(/^x+… \(\d+ more characters\)$/) },
  })
  expect(JSON.stringify(payloads['webhook.long']).length).toBeLessThan(17_000)
})

test('a flood of one hook is refused, and harms no other', async () => {
  // Limits do not recover while the clock's time is fixed.
  const clock = { ...systemClock, monotonic: () => 0 }
  await using hub = await startHub({ homelab: 'You look after the homelab.\n' }, { clock })
  const flood = await Promise.all(
    Array.from({ length: 400 }, (_none, at) => post(hub, 'door', { at }, bearer(hub.token))),
  )
  const refused = flood.filter(({ status }) => status === 429)
  expect(refused).toHaveLength(100)
  expect(refused[0]?.headers['retry-after']).toBe('6')
  expect(refused[0]?.text).toContain('slow down')
  await deliver(hub, 'other', {})
  expect(await listEvents(hub)).toHaveLength(flood.length - refused.length + 1)
})

test('a secret that changes while the hub runs counts at once', async () => {
  await using hub = await startHub()
  const ring = (secret: string) => post(hub, 'door', '{}', bearer(secret))
  expect((await ring(SECRET)).status).toBe(202)
  hub.writeConfig(CONFIG.replace(SECRET, 'another-secret-of-the-door'))
  await until('the new one counts', async () => (await ring('another-secret-of-the-door')).status === 202)
  expect((await ring(SECRET)).status).toBe(401)
  hub.writeConfig(CONFIG.replace('secret:', 'secrets:'))
  await hub.logs.find('it is refused', ({ event }) => event === 'config_refused')
  expect((await ring('another-secret-of-the-door')).status).toBe(202)
})

test('the config and the doctor know webhooks, and show no secret', async () => {
  await using hub = await startHub()
  const run = (command: string) => runCli([command], { cwd: hub.folder, variables: hub.variables })
  const config = await run('config')
  expect(config.stdout).toContain(
    'webhooks: {"door":{"secret":"***","trusted":false},"plain":{"trusted":false}}',
  )
  const doctor = await run('doctor')
  expect(doctor.stdout).toContain('webhooks: /hooks/door takes its own secret, /hooks/plain takes the token')
  expect(config.stdout + doctor.stdout).not.toContain(SECRET)
  hub.writeConfig('webhooks: { door: { secret: short } }\n')
  expect((await run('doctor')).stdout).toMatch(
    /superbloom\.yaml:1: webhooks\.door\.secret: must be at least 16/,
  )
  hub.writeConfig('webhooks: { "Not a name": {} }\n')
  expect((await run('doctor')).stdout).toMatch(/superbloom\.yaml:1: webhooks.*lower-case letters/)
})

test('a signed delivery is taken once, whatever id somebody writes beside it', async () => {
  await using hub = await startHub()
  const body = '{"garage":"open","at":1}'
  const ring = async (headers: Record<string, string>) => {
    const answer = await post(hub, 'door', body, { ...sign(body), ...headers })
    expect(answer.status).toBe(202)
    return (answer.json as Answer).events[0]
  }
  const first = await ring({ 'X-GitHub-Delivery': 'one' })
  expect(first).not.toHaveProperty('repeated')
  for (const headers of [{ 'X-GitHub-Delivery': 'two' }, { 'Idempotency-Key': 'three' }, {}] as const) {
    expect(await ring(headers)).toMatchObject({ id: first?.id, repeated: true })
  }
  expect(await listEvents(hub)).toHaveLength(1)
  await post(hub, 'door', body, { ...bearer(SECRET), 'Idempotency-Key': 'four' })
  expect(await listEvents(hub)).toHaveLength(2)
})

/** Sends headers that announce a body, but no body; resolves with the answer's status. */
function announce(hub: { url: string }, headers: Record<string, string>): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
  const sent = request(`${hub.url}/hooks/door`, { method: 'POST', headers, agent: false }, answer => {
    resolve(answer.statusCode)
    sent.destroy()
  })
  sent.on('error', reject)
  sent.flushHeaders()
  return promise
}

test('a body is not waited for that nobody could be let in with', async () => {
  await using hub = await startHub()
  const long = { 'Content-Length': '1000000' }
  const signed = sign('another body')
  expect(await announce(hub, long)).toBe(401)
  expect(await announce(hub, { ...long, 'X-Hub-Signature-256': 'sha256=00' })).toBe(401)
  expect(await announce(hub, { ...signed, 'Content-Length': '1048577' })).toBe(413)
})

test('strangers whose bodies are long in coming keep out neither a signature nor the token', async () => {
  await using hub = await startHub()
  const signed = { ...sign('another body'), 'Content-Length': '1000000', 'Content-Type': 'text/plain' }
  let over = 0
  const strangers = Array.from({ length: 50 }, () => {
    const sent = request(`${hub.url}/hooks/door`, { method: 'POST', headers: signed, agent: false })
    for (const end of ['error', 'response']) sent.on(end, () => over++)
    sent.write('x'.repeat(900_000))
    return sent
  })
  await until('only so many are waited for at once', () => over === strangers.length - 16)
  expect((await post(hub, 'door', '{}', bearer(SECRET))).status).toBe(202)
  expect((await post(hub, 'door', '{"a":1}', sign('{"a":1}'))).status).toBe(202)
  for (const sent of strangers) sent.destroy()
})
