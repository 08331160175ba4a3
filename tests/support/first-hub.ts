import type { toChatTool } from '../../hub/model/openai/chat-adapter.ts'
import { openChat } from './chat-client.ts'
import { untilReady } from './downstream.ts'
import { DEFAULT_AGENT, FIVE_SERVERS } from './five-servers.ts'
import { HELLO, serve, stream } from './provider.ts'
import { startTestHub } from './test-hub.ts'

/** A tool in the form of chat completions. */
export type ChatTool = ReturnType<typeof toChatTool>

/** Reads the tools that a new hub's agent, with all five servers, sends to a model by chat completions. */
export async function readFirstTools(): Promise<ChatTool[]> {
  await using provider = await serve(stream(HELLO))
  await using hub = await startTestHub({
    config: JSON.stringify({ servers: FIVE_SERVERS }),
    agents: { homelab: DEFAULT_AGENT },
    variables: { SUPERBLOOM_MODEL: 'm', SUPERBLOOM_MODEL_CONTEXT: '65536', OPENAI_BASE_URL: provider.url },
  })
  await untilReady(hub, ...Object.keys(FIVE_SERVERS))
  using chat = await openChat(hub)
  await chat.subscribe('homelab')
  await chat.ask('homelab', 'Is all well?')
  const request = provider.bodies.find(body => body.includes('"tools":'))
  if (request === undefined) throw new Error('No request had tools')
  return (JSON.parse(request) as { tools: ChatTool[] }).tools
}
