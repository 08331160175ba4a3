import type { Action } from '../../hub/demo/ntfy.ts'
import { openChat } from './chat-client.ts'
import { odd, untilReady } from './downstream.ts'
import { send } from './raw-http.ts'
import { makeTempFolder } from './temp-store.ts'
import { startTestHub, type TestHub } from './test-hub.ts'

export interface PhoneHubOptions {
  /** Entry of the channel `phone` of the notifications server. */
  channel: Record<string, unknown>
  notify?: Record<string, unknown>
  publicUrl?: string
  servers?: Record<string, unknown>
  agent?: string
}

/** The name under which a phone reaches these hubs; the tests send it as Host. */
export const PHONE_HOST = 'hub.home.example'

/** Starts a hub that notifies the channel `phone` of approvals; the tool odd__swallow needs one. */
export async function startPhoneHub({
  channel,
  notify = { channel: 'phone', private: true },
  publicUrl = `http://${PHONE_HOST}`,
  servers = {},
  agent = '---\napprove: ["odd__sw*"]\n---\nYou look after the homelab.\n',
}: PhoneHubOptions) {
  const folder = makeTempFolder()
  const env = {
    NOTIFICATIONS_CHANNELS: JSON.stringify({ phone: channel }),
    NOTIFICATIONS_DATA: `${folder.path}/n.db`,
  }
  const config = { notify, servers: { metrics: false, odd: odd().entry, notifications: { env }, ...servers } }
  const hub = await startTestHub({
    config: JSON.stringify(config),
    agents: { homelab: agent },
    variables: publicUrl === '' ? {} : { SUPERBLOOM_PUBLIC_URL: publicUrl },
  })
  await untilReady(hub, 'odd', 'notifications')
  return {
    hub,
    /** The folder of the outbox. */
    outbox: folder.path,
    async [Symbol.asyncDispose]() {
      await hub[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

/** Makes the agent call odd__swallow; resolves with the approval that it waits for. */
export async function askForSwallow(hub: TestHub, args: Record<string, unknown>) {
  using chat = await openChat(hub)
  await chat.subscribe('homelab')
  await chat.say('homelab', `/call odd__swallow ${JSON.stringify(args)}`)
  const wanted = JSON.stringify(args)
  return (await chat.next('approval', one => JSON.stringify(one.approval.arguments) === wanted)).approval
}

/** Presses a button as ntfy's apps do, or sends something else to its address. */
export function press(
  hub: Pick<TestHub, 'url'>,
  { method = 'POST', url, body }: Pick<Action, 'method' | 'url' | 'body'>,
  headers: Record<string, string> = {},
) {
  const { host, pathname } = new URL(url)
  return send(`${hub.url}${pathname}`, {
    method,
    headers: { Host: host, ...headers },
    ...(body === undefined ? {} : { body }),
  })
}
