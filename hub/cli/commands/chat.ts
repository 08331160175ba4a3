import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { agentList } from '../../../schemas/hub-lists.ts'
import { createEnvironment } from '../../config/environment.ts'
import { locateData } from '../../config/load.ts'
import { describeError, HubError } from '../../core/errors.ts'
import { describeApproval } from '../../mcp/hub-tools/approvals.ts'
import { readOpenApprovals, sendDecision } from '../approvals.ts'
import { callHub } from '../call-hub.ts'
import { type ChatHistory, openChatHistory } from '../chat-history.ts'
import { openChatInput } from '../chat-input.ts'
import { CHAT_HELP, createChatNames, decideLine, type LineNames } from '../chat-line.ts'
import { type Decision, openChatSocket } from '../chat-socket.ts'
import { createChatView } from '../chat-view.ts'
import { complete } from '../complete.ts'
import { findHub, type RunningHub } from '../find-hub.ts'
import { print, printError } from '../print.ts'
import { createWorkWatch } from '../work-watch.ts'
import { askHub } from './ask.ts'

/** Seconds that a reply may take where no person watches. */
const LONGEST_REPLY_S = 600

export function define(command: Command): void {
  command
    .argument('[conversation]', 'an agent, or <agent>/<slug>; default homelab, else the first agent')
    .addHelpText('after', `\nIn the chat:\n${CHAT_HELP.replace(/^/gm, '  ')}`)
    .action((given: string | undefined) => {
      const commands = command.parent?.commands.map(each => each.name()) ?? []
      return chat(given, commands)
    })
}

/** Opens a chat in the terminal. From a file or a pipe it sends each line in turn and prints the reply. */
async function chat(given: string | undefined, commands: readonly string[]): Promise<void> {
  const agents = await listAgents()
  const agent = agents.find(({ name }) => name === 'homelab') ?? agents[0]
  if (!agent) throw new HubError('not_found', 'There is no agent yet: write agents/<name>.md')
  const conversation = given ?? agent.conversations[0] ?? agent.name
  const conversations = agents.flatMap(each => each.conversations)
  const names = { agents: agents.map(({ name }) => name), conversations, commands }
  const opened = decideLine(`/open ${conversation}`, names)
  if (opened.kind === 'note') throw new HubError('not_found', opened.text)
  return process.stdin.isTTY ? chatWithPerson(conversation, commands) : chatByLines(conversation, names)
}

async function listAgents() {
  return agentList.parse((await callHub(findHub(), 'hub_list_agents', {})).structured).agents
}

async function chatByLines(first: string, names: LineNames): Promise<void> {
  const hub = findHub()
  let conversation = first
  for await (const line of createInterface({ input: process.stdin })) {
    const action = decideLine(line, names)
    if (action.kind === 'open') {
      if (action.conversation === undefined) return
      conversation = action.conversation
    } else if (action.kind === 'decide') await decide(hub, action.decision)
    else if (action.kind === 'note') printError(action.text)
    else if (action.kind !== 'none')
      await askHub(hub, { conversation, text: action.text, waitSeconds: LONGEST_REPLY_S })
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
async function chatWithPerson(first: string, commands: readonly string[]): Promise<void> {
  const history = openChatHistory(locateData(createEnvironment()).dataFolder)
  print(CHAT_HELP)
  let next: string | undefined = first
  while (next !== undefined) next = await chatIn(next, history, commands)
}

/** Resolves when the person leaves, with the conversation to open next; undefined for none. */
async function chatIn(
  conversation: string,
  history: ChatHistory,
  commands: readonly string[],
): Promise<string | undefined> {
  const hub = findHub()
  const names = Object.assign(createChatNames(), { commands })
  const work = createWorkWatch(conversation)
  const left = Promise.withResolvers<string | undefined>()
  using input = openChatInput({
    history: history.lines,
    completer: line => complete(line, names),
    onEntry: text => onEntry(text),
    onPasted: lines => view.note(`${lines} lines were pasted: Enter sends them, Ctrl+C drops them`),
    onInterrupt() {
      if (!work.mayStop()) return input.close()
      socket.stop()
      view.note('stopping; Ctrl+C again leaves')
    },
    onClose: () => left.resolve(undefined),
  })
  const view = createChatView(conversation, input, work.isWorking)
  using socket = openChatSocket(findHub, conversation, {
    onFrame(frame) {
      names.onFrame(frame)
      work.onFrame(frame)
      if (frame.type !== 'message' || !socket.isOwn(frame.message)) view.onFrame(frame)
    },
    onState: state =>
      view.note(state === 'connected' ? `${conversation}, connected` : 'connection lost; trying again …'),
    onRefused: why => left.reject(new HubError('unauthorized', why)),
  })
  const onEntry = (text: string) => {
    view.onEntry()
    const problem = history.add(text)
    if (problem !== undefined) view.note(problem)
    const action = decideLine(text, names)
    if (action.kind === 'open') left.resolve(action.conversation)
    else if (action.kind === 'decide')
      sendDecision(hub, action.decision).catch(error => view.note(describeError(error)))
    else if (action.kind === 'note') view.note(action.text)
    else if (action.kind === 'help') view.print(CHAT_HELP)
    if (action.kind === 'send' || action.kind === 'help') socket.send(action.text)
    input.prompt()
  }
  for (const approval of await readOpenApprovals(hub, conversation)) {
    names.add(approval)
    view.showApproval(approval)
  }
  // Without the wait the socket would be disposed of at once.
  return await left.promise
}
