import { expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { runCli } from '../support/cli.ts'
import { openClient } from '../support/clients.ts'
import { createScriptedModel, say } from '../support/scripted-model.ts'
import { postCompletion } from '../support/talk-hub.ts'
import { startTestHub } from '../support/test-hub.ts'

const MEANT = expect.stringContaining('Did you mean `/help`?')

test('a mistyped command is answered at every door, and reaches no model; a path does', async () => {
  const model = createScriptedModel()
  await using hub = await startTestHub({ overrides: { model } })
  using page = await openChat(hub)
  await page.subscribe('homelab')
  const [, words] = await Promise.all([
    page.answerTo(await page.say('homelab', '/help'), ['notice']),
    page.answerTo(await page.say('homelab', '/hlep'), ['notice']),
  ])
  expect(words).toMatchObject({ author: 'hub', text: MEANT })
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  const talked = await client.call('hub_chat', { conversation: 'homelab', message: '/hlep' })
  expect(talked.structuredContent).toMatchObject({ status: 'replied', reply: MEANT })
  const completion = await postCompletion(hub, {
    model: 'homelab',
    messages: [{ role: 'user', content: '/hlep' }],
  })
  expect(completion.json).toMatchObject({ choices: [{ message: { content: MEANT } }] })
  const asked = await runCli(['ask', 'homelab', '/hlep'], { variables: hub.variables })
  expect(asked).toMatchObject({ code: 0, stdout: MEANT })
  expect(model.requests.all).toEqual([])
  model.script(say('Which user?'))
  expect(await page.ask('homelab', '/etc/passwd is wrong')).toMatchObject({ text: 'Which user?' })
  expect(JSON.stringify(model.requests.all)).not.toContain('hlep')
})
