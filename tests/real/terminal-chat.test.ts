import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/built.ts'
import { odd, untilReady } from '../support/downstream.ts'
import { type Program, startProgram } from '../support/program.ts'
import { call, createScriptedModel, hold, say } from '../support/scripted-model.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

const UP = '\u001b[A'
const config = JSON.stringify({
  servers: { metrics: false, odd: odd().entry },
  tools: { approve: ['odd__*'] },
})

/** Opens the chat as a person does, at a terminal that `script` makes. */
async function openTerminal(hub: TestHub): Promise<Program & { type(keys: string): void }> {
  const command = `"${process.execPath}" "${join(root, 'bin', 'superbloom.js')}" chat`
  const program = await startProgram('script', ['-qfec', command, '/dev/null'], {
    env: { ...hub.variables, TERM: 'xterm' },
    input: true,
  })
  await program.says(/homelab, connected/)
  return Object.assign(program, { type: (keys: string) => void program.child.stdin?.write(keys) })
}

test('a person chats at a terminal: streamed replies, an approval by its number, completion, history', async () => {
  const model = createScriptedModel([say('All disks are well.')])
  await using hub = await startTestHub({ config, overrides: { model } })
  await untilReady(hub, 'odd')
  {
    await using terminal = await openTerminal(hub)
    terminal.type('how are the disks?\r')
    await terminal.says(/All disks are well\./)
    terminal.type('/hlep\r')
    await terminal.says(/Did you mean `\/help`\?/)
    model.script(call([['odd__swallow', { path: '/srv' }]]), say('It waits for you.'), say('It ran.'))
    terminal.type('swallow it\r')
    await terminal.says(/\[approval\] 1\. apr_\w+ homelab: odd__swallow[\s\S]*approve 1 or deny 1/)
    // Each line of the chat draws the prompt again; what is typed before that stands in two pieces.
    await terminal.says(/It waits for you\.\s+\S*> \S*$/)
    // Readline completes nothing in what came at once, as a pasted text does.
    terminal.type('/appr')
    await terminal.says(/> .*\/appr$/)
    terminal.type('\t')
    await terminal.says(/> .*\/approve $/)
    terminal.type('1 fine\r')
    await terminal.says(/owner approved odd__swallow/)
    await terminal.says(/It ran\./)
    terminal.type('/open homelab/nas\r')
    await terminal.says(/homelab\/nas, connected/)
    terminal.type('/quit\r')
    expect(await terminal.ended).toMatchObject({ code: 0 })
  }
  const file = join(hub.dataFolder, 'chat-history')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8')).toContain('how are the disks?\n/hlep\n')
  await using again = await openTerminal(hub)
  model.script(say('Still well.'))
  // From the newest line: /quit, /open, /approve, "swallow", /hlep and the first question.
  again.type(`${UP.repeat(6)}\r`)
  await again.says(/Still well\./)
  expect(model.requests.all.at(-1)?.messages.at(-1)).toMatchObject({
    text: expect.stringContaining('> how are the disks?'),
  })
})

test('what is typed while a reply streams stays whole, a pasted text is one message, and exit leaves', async () => {
  const model = createScriptedModel()
  await using hub = await startTestHub({ config, overrides: { model } })
  await using terminal = await openTerminal(hub)
  const rest = hold((request, options) => {
    options.onText('are all well.')
    return call([], 'The disks are all well.')(request, options)
  })
  model.script(async (request, options) => {
    options.onText('The disks ')
    return rest.turn(request, options)
  })
  terminal.type('how are the disks?\r')
  await terminal.says(/The disks \r\n\S*> \S*$/)
  terminal.type('and the')
  await terminal.says(/> \S*and the$/)
  rest.release()
  await terminal.says(/The disks are all well\.\r\n\S*> and the\S*$/)
  model.script(say('Two lines.'))
  // Ctrl+C drops what was typed. Marks around a pasted text make it one message.
  terminal.type('\u0003')
  terminal.type('\u001b[200~first\rsecond\u001b[201~')
  await terminal.says(/2 lines were pasted/)
  terminal.type('\r')
  await terminal.says(/Two lines\./)
  expect(model.requests.all.at(-1)?.messages.at(-1)?.text).toContain('> first\n> second')
  terminal.type('exit\r')
  expect(await terminal.ended).toMatchObject({ code: 0 })
})
