import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { agentList } from '../../../schemas/hub-lists.ts'
import { createEnvironment } from '../../config/environment.ts'
import { locateData } from '../../config/load.ts'
import { describeError, HubError } from '../../core/errors.ts'
import { describeApproval } from '../../mcp/hub-tools/approvals.ts'
import { DECISION_USAGE, parseDecision, readOpenApprovals, sendDecision } from '../approvals.ts'
import { callHub } from '../call-hub.ts'
import { type ChatHistory, openChatHistory } from '../chat-history.ts'
import { createChatNames, decideLine } from '../chat-line.ts'
import { type Decision, openChatSocket } from '../chat-socket.ts'
import { createChatView } from '../chat-view.ts'
import { complete } from '../complete.ts'
import { findHub, type RunningHub } from '../find-hub.ts'
import { print, printError } from '../print.ts'
import { createWorkWatch } from '../work-watch.ts'
import { askHub } from './ask.ts'

/** Seconds that a reply may take where no person watches. */
const LONGEST_REPLY_S = 600
const HELP = `Write and press Enter. Tab completes, the arrow keys bring back what you wrote, also earlier. Ctrl+C stops the agent while it works, /open NAME changes the conversation, Ctrl+D or /quit leaves. The agent may write by itself at any time; when a call of it needs your yes: ${DECISION_USAGE}`

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

/** Opens one conversation after the other, until the person leaves. */
async function chatWithPerson(first: string): Promise<void> {
  const history = openChatHistory(locateData(createEnvironment()).dataFolder)
  print(HELP)
  let next: string | undefined = first
  while (next !== undefined) next = await chatIn(next, history)
}

/** Resolves when the person leaves, with the conversation to open next; undefined for none. */
async function chatIn(conversation: string, history: ChatHistory): Promise<string | undefined> {
  const hub = findHub()
  const names = createChatNames()
  const work = createWorkWatch(conversation)
  const left = Promise.withResolvers<string | undefined>()
  const input = createInterface({
    input: process.stdin,
    output: process.stdout,
    prompt: '> ',
    history: [...history.lines],
    removeHistoryDuplicates: true,
    completer: (line: string) => complete(line, names),
  })
  const view = createChatView(conversation, input, message => socket.isOwn(message))
  using socket = openChatSocket(findHub, conversation, {
    onFrame(frame) {
      names.onFrame(frame)
      work.onFrame(frame)
      view.onFrame(frame)
    },
    onState: state =>
      view.note(state === 'connected' ? `${conversation}, connected` : 'connection lost; trying again …'),
    onRefused: why => left.reject(new HubError('unauthorized', why)),
  })
  input.on('line', line => {
    const problem = history.add(line)
    if (problem !== undefined) view.note(problem)
    const action = decideLine(line, names)
    if (action.kind === 'open') left.resolve(action.conversation)
    else if (action.kind === 'decide')
      sendDecision(hub, action.decision).catch(error => view.note(describeError(error)))
    else if (action.kind === 'note') view.note(action.text)
    else if (action.kind === 'send') socket.send(action.text)
    input.prompt()
  })
  input.on('SIGINT', () => {
    if (!work.mayStop()) return input.close()
    socket.stop()
    view.note('stopping; Ctrl+C again leaves')
  })
  input.on('close', () => left.resolve(undefined))
  for (const approval of await readOpenApprovals(hub, conversation)) {
    names.add(approval)
    view.showApproval(approval)
  }
  // Without the wait the socket would be disposed of at once.
  return await left.promise.finally(() => input.close())
}

async function defaultConversation(): Promise<string> {
  const { agents } = agentList.parse((await callHub(findHub(), 'hub_list_agents', {})).structured)
  const agent = agents.find(({ name }) => name === 'homelab') ?? agents[0]
  if (!agent) throw new HubError('not_found', 'There is no agent yet: write agents/<name>.md')
  return agent.conversations[0] ?? agent.name
}
