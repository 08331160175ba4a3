import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import type { Approval, ChatMessage, HubFrame } from '../../../schemas/chat.ts'
import { agentList } from '../../../schemas/hub-lists.ts'
import { describeError, HubError } from '../../core/errors.ts'
import { stripUnseen } from '../../core/text.ts'
import { describeApproval } from '../../mcp/hub-tools/approvals.ts'
import { DECISION_USAGE, parseDecision, readOpenApprovals, sendDecision } from '../approvals.ts'
import { callHub } from '../call-hub.ts'
import { type Decision, openChatSocket } from '../chat-socket.ts'
import { findHub, type RunningHub } from '../find-hub.ts'
import { print, printError } from '../print.ts'
import { createWorkWatch } from '../work-watch.ts'
import { askHub } from './ask.ts'

/** Seconds that a reply may take where no person watches. */
const LONGEST_REPLY_S = 600
const HELP = `Write and press Enter. Ctrl+C stops the agent while it works, Ctrl+D or /quit leaves. The agent may write by itself at any time; when a call of it needs your yes: ${DECISION_USAGE}`

export function define(command: Command): void {
  command
    .argument('[conversation]', 'an agent, or <agent>/<slug>; default homelab, else the first agent')
    .action(chat)
}

/** Opens a chat in the terminal. From a file or a pipe it sends each line in turn and prints the reply. */
async function chat(given: string | undefined): Promise<void> {
  const conversation = given ?? (await defaultConversation())
  return process.stdin.isTTY ? chatWithPerson(conversation) : chatByLines(conversation)
}

async function chatByLines(conversation: string): Promise<void> {
  const hub = findHub()
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '/quit') return
    const decision = parseDecision(line)
    if (decision === 'incomplete') printError(DECISION_USAGE)
    else if (decision) await decide(hub, decision)
    else if (line.trim() !== '') await askHub(hub, { conversation, text: line, waitSeconds: LONGEST_REPLY_S })
  }
}

/** Decides an approval. The lines after a failed one are still read; the exit code shows the failure. */
async function decide(hub: RunningHub, decision: Decision): Promise<void> {
  try {
    print(describeApproval(await sendDecision(hub, decision)))
  } catch (error) {
    printError(describeError(error))
    process.exitCode = 1
  }
}

async function chatWithPerson(conversation: string): Promise<void> {
  const view = createView(conversation)
  const open = await readOpenApprovals(findHub(), conversation)
  const work = createWorkWatch(conversation)
  const left = Promise.withResolvers<void>()
  using socket = openChatSocket(() => findHub(), conversation, {
    onFrame(frame) {
      work.onFrame(frame)
      view.onFrame(frame)
    },
    onState: state => view.note(state === 'connected' ? 'connected' : 'connection lost; trying again …'),
    onRefused: why => left.reject(new HubError('unauthorized', why)),
  })
  print(`${conversation}. ${HELP}`)
  const input = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' })
  input.on('line', line => {
    const text = line.trim()
    if (text === '/quit') return input.close()
    if (text === '') return input.prompt()
    const decision = parseDecision(text)
    if (decision === undefined) socket.send(text)
    else if (decision === 'incomplete') view.note(DECISION_USAGE)
    else if (!socket.decide(decision)) view.note('not connected; nothing was decided: try again')
  })
  input.on('SIGINT', () => {
    if (!work.mayStop()) return input.close()
    socket.stop()
    view.note('stopping; Ctrl+C again leaves')
  })
  input.on('close', () => left.resolve())
  input.prompt()
  for (const approval of open) view.showApproval(approval)
  await left.promise.finally(() => input.close())
}

async function defaultConversation(): Promise<string> {
  const { agents } = agentList.parse((await callHub(findHub(), 'hub_list_agents', {})).structured)
  const agent = agents.find(({ name }) => name === 'homelab') ?? agents[0]
  if (!agent) throw new HubError('not_found', 'There is no agent yet: write agents/<name>.md')
  return agent.conversations[0] ?? agent.name
}

/** Creates a view that prints frames as lines: streamed text as it comes, the rest when it is complete. */
function createView(conversation: string) {
  const { stdout } = process
  let streaming = ''
  const line = (text: string) => {
    if (streaming !== '') stdout.write('\n')
    streaming = ''
    stdout.write(`\r${stripUnseen(text)}\n> `)
  }
  const show = (message: ChatMessage) => {
    if (message.kind === 'user') return
    if (message.kind === 'tool') return line(`  · ${message.author}: ${message.text}`)
    const isStreamed = streaming !== '' && message.kind === 'agent'
    const from = message.data?.['power'] === 'foreign' ? '[a text from outside led to this] ' : ''
    const mark = message.kind === 'agent' ? from : `[${message.kind}] `
    if (isStreamed && message.text.startsWith(streaming.trim())) {
      stdout.write(stripUnseen(message.text.slice(streaming.trim().length)))
      line('')
    } else line(`${message.author}: ${mark}${message.text}`)
  }
  const showApproval = (approval: Approval) => {
    const { id, status } = approval
    const answer =
      status === 'open' ? `\n  /approve ${id} or /deny ${id} [note]; /approve ${id} always 1d` : ''
    line(`[approval] ${describeApproval(approval)}${answer}`)
  }
  return {
    note: (text: string) => line(`(${text})`),
    showApproval,
    onFrame(frame: HubFrame) {
      if (frame.type === 'error') line(`[error] ${frame.message}`)
      if (frame.type === 'approval' && frame.approval.conversation === conversation)
        showApproval(frame.approval)
      if (frame.type === 'message' && frame.message.conversation === conversation) show(frame.message)
      if (frame.type === 'delta' && frame.conversation === conversation) {
        stdout.write(`${streaming === '' ? '\r' : ''}${stripUnseen(frame.text)}`)
        streaming += frame.text
      }
      if (frame.type === 'tool' && frame.call.status === 'started' && frame.call.summary) {
        line(`  · ${frame.call.tool}: ${frame.call.summary}`)
      }
    },
  }
}
