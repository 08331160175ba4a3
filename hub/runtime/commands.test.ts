import { describe, expect, test } from 'vitest'
import { openWorld } from '../../tests/support/runtime-world.ts'
import { say } from '../../tests/support/scripted-model.ts'
import { decideCommand } from './commands.ts'

describe('decideCommand', () => {
  test.each([
    ['/stop', { kind: 'stop' }],
    [' /Stop\n', { kind: 'stop' }],
    ['/reset', { kind: 'reset' }],
    ['/reset  the disks are new ', { kind: 'reset', message: 'the disks are new' }],
    ['/new the disks', { kind: 'topic' }],
    ['/help', { kind: 'answer', text: expect.stringContaining('/reset [note]') }],
    ['/help me with nginx', { kind: 'answer', text: expect.stringContaining('/stop') }],
    ['/hlep', { kind: 'answer', text: expect.stringContaining('Did you mean `/help`?') }],
    ['help', { kind: 'answer', text: expect.stringContaining('/reset [note]') }],
    ['Help?', { kind: 'answer', text: expect.stringContaining('/reset [note]') }],
    ['/remnd me in 2 minutes', { kind: 'answer', text: expect.stringContaining('Did you mean `/remind`?') }],
    ['/remind', { kind: 'answer', text: expect.stringContaining('There are /help, /stop') }],
    ['/hep', { kind: 'answer', text: expect.stringContaining('Did you mean `/help`?') }],
    ['/rset it was wrong', { kind: 'answer', text: expect.stringContaining('Did you mean `/reset`?') }],
    ['/frobnicate', { kind: 'answer', text: expect.stringContaining('There are /help, /stop') }],
    ['/stop the game server', { kind: 'answer', text: expect.stringContaining('Nothing was stopped') }],
    ['/approve 3', { kind: 'answer', text: expect.stringContaining('superbloom chat') }],
    ['/aprove 3', { kind: 'answer', text: expect.stringContaining('`/approve`') }],
  ])('%j is answered or carried out by the hub', (text, command) => {
    expect(decideCommand(text)).toEqual(command)
  })

  test.each([
    'hello',
    '/etc/passwd is wrong',
    '/var/log',
    '/data is full',
    '/tmp is nearly out of space',
    '/mnt is mounted read-only',
    '/home is on the old disk',
    '/login returns 404',
    '/README.md is old',
    '/remind me in 2 minutes',
    'help me',
    'help the cat: it sits on the NAS',
    '//stop',
    '/',
    '/ stop',
    '/123',
    'please /stop',
    '/停止',
  ])('%j goes to the agent', text => {
    expect(decideCommand(text)).toEqual({ kind: 'agent' })
  })

  test('what the model takes goes there, and helps with slips', () => {
    const known = ['help', 'tools']
    expect(decideCommand('/help', known)).toEqual({ kind: 'agent' })
    expect(decideCommand('/hlep', known)).toMatchObject({
      text: expect.stringContaining('Did you mean `/help`?'),
    })
    expect(decideCommand('/tols', known)).toMatchObject({ text: expect.stringContaining('`/tools`') })
  })
})

test('a mistyped command is answered at once, in order, once, and never reaches the model', async () => {
  await using world = await openWorld()
  await world.start()
  const post = (text: string) =>
    world.router.postMessage({ conversation: 'homelab', text, author: 'owner', clientId: text })
  const posted = await post('/hlep')
  expect(await post('/hlep')).toEqual(posted)
  expect(world.seen.messages.all).toMatchObject([
    { kind: 'user', text: '/hlep', seq: 1 },
    { kind: 'notice', author: 'hub', seq: 2, inReplyTo: [posted.id], text: expect.stringContaining('/help') },
  ])
  world.model.script(say('Which file?'))
  await post('/etc/passwd is wrong')
  await world.idle()
  expect(JSON.stringify(world.model.requests.all)).not.toContain('hlep')
  expect(world.model.requests.all).toHaveLength(1)
})
