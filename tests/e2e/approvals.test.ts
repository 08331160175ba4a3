import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Approval } from '../../schemas/chat.ts'
import { type ChatClient, openChat } from '../support/chat-client.ts'
import { launcher, runCli } from '../support/cli.ts'
import { LINES, openClient, textOf } from '../support/clients.ts'
import { odd, untilReady } from '../support/downstream.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { untilNoChildren } from '../support/processes.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

const config = (approve: string[]) =>
  JSON.stringify({ servers: { metrics: false, odd: odd().entry }, tools: { approve } })
const AGENT = '---\napprove: ["odd__sw*"]\n---\nYou look after the homelab.\n'

afterAll(untilNoChildren)

describe('a hub whose agent needs a yes', () => {
  let hub: TestHub
  let chat: ChatClient
  beforeAll(async () => {
    hub = await startTestHub({ config: config([]), agents: { homelab: AGENT } })
    await untilReady(hub, 'odd')
  })
  afterAll(() => hub[Symbol.asyncDispose]())
  beforeEach(async () => {
    chat = await openChat(hub)
  })
  afterEach(() => chat[Symbol.dispose]())

  let asked = 0
  /** Makes the agent request a call; resolves with the approval that everybody sees. */
  async function ask(conversation: string): Promise<Approval> {
    const any = `n${++asked}`
    await chat.subscribe(conversation)
    const message = await chat.say(conversation, `/call odd__swallow {"any":"${any}"}`)
    const { approval } = await chat.next('approval', one => one.approval.arguments['any'] === any)
    await chat.answerTo(message)
    return approval
  }
  const decided = ({ id }: Approval) =>
    chat.next('approval', ({ approval }) => approval.id === id && approval.status !== 'open')
  const cli = (args: string[], input = '') =>
    runCli(args, { cwd: hub.folder, variables: hub.variables, input })

  test('over /ws: asked, decided once, run, and told; another client sees it', async () => {
    using other = await openChat(hub)
    const approval = await ask('homelab/ws')
    expect(approval).toMatchObject({
      agent: 'homelab',
      tool: 'odd__swallow',
      reason: 'approve in agents/homelab.md lists it',
      status: 'open',
      conversation: 'homelab/ws',
    })
    await other.next('approval', one => one.approval.id === approval.id)
    await chat.next('agent', ({ status }) => status === 'waiting')
    await chat.next('tool', ({ call }) => call.status === 'waiting')
    other.send({ type: 'decide', approval: approval.id, decision: 'approve', note: 'fine' })
    expect((await decided(approval)).approval).toMatchObject({
      status: 'approved',
      decidedBy: 'owner',
      note: 'fine',
    })
    await chat.next('message', ({ message }) => message.kind === 'tool' && message.text === 'swallowed')
    await chat.next('message', ({ message }) => message.kind === 'agent' && /swallowed/.test(message.text))
    chat.send({ type: 'decide', approval: approval.id, decision: 'deny' })
    const { code, message } = await chat.next('error')
    expect([code, message]).toEqual([
      'conflict',
      expect.stringMatching(/^apr_\w+ was approved by owner over \/ws at \d{4}-.*Z already/),
    ])
  })

  test.each([
    [{ type: 'decide', approval: 'apr_no', decision: 'approve' }, 'not_found'],
    [{ type: 'decide', approval: 'apr_no', decision: 'perhaps' }, 'bad_request'],
    [{ type: 'decide', decision: 'deny' }, 'bad_request'],
  ])('%j is refused', async (frame, code) => {
    chat.sendRaw(JSON.stringify(frame))
    expect((await chat.next('error')).code).toBe(code)
  })

  test.each(LINES)(
    'over /mcp for a client of %s: hub_chat waits, the lists show it, and a no is told',
    async line => {
      await using client = await openClient(line, hub)
      const conversation = `homelab/${line.replaceAll(/[^a-z0-9]+/g, '-')}`
      await chat.subscribe(conversation)
      const said = await client.call('hub_chat', { message: '/call odd__swallow {}', conversation })
      expect(said.structuredContent).toMatchObject({
        status: 'waiting',
        reply: expect.stringContaining("waits for a person's yes"),
      })
      const listed = await client.call('hub_list_approvals', { status: 'open' })
      const { approvals } = listed.structuredContent as { approvals: Approval[] }
      const [mine] = approvals
      if (!mine) throw new Error('No approval is open')
      expect(textOf(listed)).toContain(`${mine.id} homelab: odd__swallow {}`)
      const agents = await client.call('hub_list_agents')
      expect(agents.structuredContent).toMatchObject({ agents: [{ name: 'homelab', status: 'waiting' }] })
      chat.send({ type: 'decide', approval: mine.id, decision: 'deny', note: 'not now' })
      await chat.next('message', ({ message }) => message.data?.['status'] === 'denied')
      await chat.next('message', ({ message }) => message.kind === 'agent' && /not now/.test(message.text))
    },
  )

  test.each(
    LINES.flatMap(line => [
      [line, 'at /mcp'],
      [line, 'of `superbloom mcp`'],
    ]),
  )('no tool decides an approval for a client of %s %s', async (line, door) => {
    const env = { PATH: String(process.env['PATH']), HOME: hub.folder, SUPERBLOOM_DATA: hub.dataFolder }
    const bridge = { command: 'node', args: [launcher, 'mcp'], env }
    await using client = await openClient(line, door === 'at /mcp' ? hub : bridge)
    const approval = await ask('homelab/no-tool')
    const names = (await client.listTools()).map(({ name }) => name)
    expect(names).toContain('hub_list_approvals')
    expect(names.filter(name => name.includes('decide'))).toEqual([])
    const call = client.call('hub_decide_approval', { id: approval.id, decision: 'approve' })
    await expect(call).rejects.toMatchObject({ code: -32_602 })
    expect((await client.call('hub_list_approvals', { status: 'open' })).structuredContent).toMatchObject({
      approvals: [{ id: approval.id }],
    })
    chat.send({ type: 'decide', approval: approval.id, decision: 'deny' })
    await decided(approval)
  })

  test('from a shell: listed with the exact call, approved, and refused a second time', async () => {
    const approval = await ask('homelab/cli')
    const list = await cli(['approvals'])
    expect(list.stdout).toContain(
      `${approval.id} homelab: odd__swallow ${JSON.stringify(approval.arguments)}`,
    )
    expect(list.stdout).toContain('approve in agents/homelab.md lists it')
    const yes = await cli(['approvals', 'approve', approval.id, '--note', 'go on'])
    expect([yes.code, yes.stdout]).toEqual([
      0,
      expect.stringMatching(/approved by owner over \/ws[\s\S]*Note: go on/),
    ])
    await chat.next('message', ({ message }) => message.kind === 'tool' && message.text === 'swallowed')
    const no = await cli(['approvals', 'deny', approval.id])
    expect([no.code, no.stderr]).toEqual([1, expect.stringContaining('was approved by owner over /ws')])
    const unknown = await cli(['approvals', 'deny', 'apr_no'])
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      'superbloom: There is no approval apr_no; superbloom approvals --all shows them\n',
    ])
    expect((await cli(['approvals'])).stdout).toBe('Nothing waits for your yes.\n')
    expect((await cli(['approvals', '--all'])).stdout).toContain(`${approval.id} homelab`)
  })

  test('superbloom ask shows the exact call that waits, and how to decide it', async () => {
    const other = await ask('homelab/another')
    const { code, stderr } = await cli(['ask', 'homelab/asked', '/call', 'odd__swallow', '{"path":"/srv"}'])
    const [, id] =
      /^Waits for your yes: (\d+)\. apr_\w+ homelab: odd__swallow \{"path":"\/srv"\}$/m.exec(stderr) ?? []
    expect(code).toBe(2)
    expect(stderr).toContain(`  superbloom approvals approve ${id}, or superbloom approvals deny ${id}\n`)
    expect(stderr.match(/Waits for your yes/g)).toHaveLength(1)
    expect((await cli(['approvals', 'deny', String(id)])).code).toBe(0)
    chat.send({ type: 'decide', approval: other.id, decision: 'deny' })
    await decided(other)
  })

  test('what a shell prints hides nothing: an approval shows such characters, and a schedule is without them', async () => {
    const hidden = '\u202egnp\u200b\u009b2J'
    await chat.subscribe('homelab/hidden')
    await chat.say('homelab/hidden', `/call odd__swallow ${JSON.stringify({ path: `a${hidden}` })}`)
    const { approval } = await chat.next('approval', one => one.approval.arguments['path'] !== undefined)
    expect(approval.arguments['path']).toBe(`a${hidden}`)
    expect((await cli(['approvals'])).stdout).toContain('{"path":"a\\u202egnp\\u200b\\u009b2J"}')
    chat.send({ type: 'decide', approval: approval.id, decision: 'deny' })
    await decided(approval)
    await cli(['schedules', 'create', '--delay', '1d', `look ${hidden}`])
    const { stdout } = await cli(['schedules'])
    expect(stdout).toContain('look gnp2J')
    expect(stdout).not.toMatch(/\p{Cf}|(?!\n)\p{Cc}/u)
  })

  test('in the terminal chat by a pipe', async () => {
    const approval = await ask('homelab/pipe')
    const { stdout, stderr } = await cli(['chat'], `/deny\n/deny ${approval.id} too late\n`)
    expect(stderr).toContain('/approve 3 [note]')
    expect(stdout).toMatch(/denied by owner over \/ws[\s\S]*Note: too late/)
    expect((await decided(approval)).approval.note).toBe('too late')
  })

  test('a yes that holds for longer counts where the policy is explained, and is told in words', async () => {
    await using client = await openClient(LINES[0], hub)
    const explain = () => client.call('hub_explain_policy', { tool: 'odd__swallow' })
    expect(textOf(await explain())).toContain('asks a person: approve in agents/homelab.md lists it')
    const approval = await ask('homelab/longer')
    const yes = { type: 'decide', approval: approval.id, decision: 'approve', always: '1d' }
    chat.sendRaw(JSON.stringify(yes))
    const { message } = await chat.next('message', one => one.message.data?.['allowedUntil'] !== undefined)
    expect(message.text).toMatch(
      /Whenever a person asks for it, further calls of odd__swallow run without asking until \w{3} \d{4}-\d\d-\d\d \d\d:\d\d \(.+\)\. Settings > Rules of the page takes that back\.$/,
    )
    const reason = 'approve in agents/homelab.md lists it'
    const until = message.data?.['allowedUntil']
    const answer = await explain()
    expect(answer.structuredContent).toEqual({
      tools: [{ tool: 'odd__swallow', toolClass: 'change', kind: 'run', reason, until }],
    })
    expect(textOf(answer)).toMatch(
      /runs: a person allowed it until \w{3} .+; then it asks again, since approve/,
    )
    const other = await client.call('hub_explain_policy', { tool: 'odd__swallow', power: 'routine' })
    expect(textOf(other)).toContain('asks a person')
    const { structuredContent } = await client.call('hub_list_allowances', {})
    const { allowances } = structuredContent as { allowances: { id: string }[] }
    await client.call('hub_revoke_allowance', { id: allowances[0]?.id })
    expect(textOf(await explain())).toContain('asks a person')
  })

  test('what the config asks for holds from the next call on', async () => {
    hub.writeAgent('homelab', 'You look after the homelab.\n')
    hub.writeConfig(config(['odd__*']))
    await hub.logs.find('the config is taken', ({ event }) => event === 'config_changed')
    const approval = await ask('homelab/config')
    expect(approval.reason).toBe('tools.approve of the config lists it')
    chat.send({ type: 'decide', approval: approval.id, decision: 'deny' })
    await decided(approval)
  })
})

describe('24 hours', () => {
  const clock = createFakeClock(Date.now())

  test.each(['while the hub runs', 'while it is down'])(
    'pass %s: nothing runs, and that is told',
    async when => {
      await using hub = await startTestHub({
        config: config(['odd__swallow']),
        overrides: { clock },
      })
      await untilReady(hub, 'odd')
      let chat = await openChat(hub)
      await chat.subscribe('homelab')
      await chat.say('homelab', '/call odd__swallow {}')
      const { approval } = await chat.next('approval')
      await chat.next('agent', ({ status }) => status === 'waiting')
      if (when === 'while it is down') {
        chat[Symbol.dispose]()
        await hub.stop()
        clock.jump(24 * 3_600_000)
        await hub.start()
        chat = await openChat(hub)
        await chat.subscribe('homelab', 0)
      } else {
        // The clock checks at least every minute, however far away the next time is.
        clock.jump(24 * 3_600_000)
        clock.advance(60_000)
      }
      using _ = chat
      const told = await chat.next('message', ({ message }) => message.data?.['status'] === 'expired')
      expect(told.message).toMatchObject({
        text: 'Nobody answered in time, so it did not run.',
        data: { approval: approval.id },
      })
      chat.send({ type: 'decide', approval: approval.id, decision: 'approve' })
      expect((await chat.next('error')).message).toMatch(/was expired at/)
    },
  )
})
