import { type LabAnswer, type LabRequest, type LabServer, startLab } from '../../hub/demo/http.ts'
import type { Contract } from '../support/openapi.ts'

export const DISCORD_TOKEN = 'lab-bot-token'
const HOOK = { id: '11', token: 'abc_DEF-123' }
const CHANNEL = '2'

export interface DiscordMessage {
  id: string
  content: string
  nonce?: string
  allowed_mentions?: { parse: string[] }
  embeds?: { image?: { url: string } }[]
  attachments?: { id: string; filename: string }[]
}

export interface Discord extends LabServer {
  /** The address for bots that post to channel 2: "http://127.0.0.1:40123/api/v10". */
  readonly apiUrl: string
  readonly webhookUrl: string
  /** Messages, oldest first. */
  readonly messages: readonly DiscordMessage[]
  /** Violations of the contract in requests and answers. */
  readonly violations: readonly string[]
  /** Refuses the next message with 429 and this `retry_after`. */
  limitOnce(seconds: number): void
}

/**
 * Starts the part of Discord's REST that notifications need: one webhook, and one channel for a bot, with
 * nonces.
 */
export async function startDiscord(contract?: Contract): Promise<Discord> {
  const messages: DiscordMessage[] = []
  const violations: string[] = []
  let limit: number | undefined
  const post = (request: LabRequest): LabAnswer => {
    if (limit !== undefined) {
      const body = { message: 'You are being rate limited.', retry_after: limit, global: false, code: 0 }
      const headers = { 'retry-after': String(Math.ceil(limit)) }
      limit = undefined
      return { status: 429, headers, body }
    }
    const given = readMessage(request)
    const known = messages.find(one => given.nonce !== undefined && one.nonce === given.nonce)
    const message = known ?? { ...given, id: String(9001 + messages.length) }
    if (!known) messages.push(message)
    return { body: toMessage(message) }
  }
  const edit = (request: LabRequest): LabAnswer => {
    const message = messages.find(({ id }) => request.url.pathname.endsWith(`/${id}`))
    if (!message) return { status: 404, body: { message: 'Unknown Message', code: 10008 } }
    Object.assign(message, readMessage(request))
    return { body: { ...toMessage(message), edited_timestamp: '2026-11-22T12:01:00.000000+00:00' } }
  }
  const decide = (request: LabRequest): LabAnswer => {
    const path = request.url.pathname.replace(/^\/api(\/v10)?/, '')
    const isBot = request.headers.authorization === `Bot ${DISCORD_TOKEN}`
    if (path === `/webhooks/${HOOK.id}/${HOOK.token}`)
      return request.method === 'POST' ? post(request) : webhook
    if (request.method === 'PATCH' && path.startsWith(`/webhooks/${HOOK.id}/${HOOK.token}/messages/`))
      return edit(request)
    if (path.startsWith('/webhooks/'))
      return { status: 404, body: { message: 'Unknown Webhook', code: 10015 } }
    if (!isBot) return { status: 401, body: { message: '401: Unauthorized', code: 0 } }
    if (path === `/channels/${CHANNEL}`) return channel
    if (path === `/channels/${CHANNEL}/messages`) return post(request)
    if (request.method === 'PATCH' && path.startsWith(`/channels/${CHANNEL}/messages/`)) return edit(request)
    return { status: 404, body: { message: 'Unknown Channel', code: 10003 } }
  }
  const lab = await startLab(request => {
    const answer = decide(request)
    if (contract) violations.push(...check(contract, request, answer))
    return answer
  })
  return Object.assign(lab, {
    apiUrl: `${lab.url}/api/v10`,
    webhookUrl: `${lab.url}/api/webhooks/${HOOK.id}/${HOOK.token}`,
    messages,
    violations,
    limitOnce(seconds: number) {
      limit = seconds
    },
  })
}

const webhook: LabAnswer = {
  body: {
    application_id: null,
    avatar: null,
    channel_id: CHANNEL,
    guild_id: '5',
    id: HOOK.id,
    name: 'lab',
    type: 1,
  },
}
const channel: LabAnswer = {
  body: {
    id: CHANNEL,
    type: 0,
    flags: 0,
    guild_id: '5',
    name: 'homelab',
    position: 0,
    permission_overwrites: [],
  },
}

/** Reads the JSON of a message, also of one with files. */
function readMessage({ body, headers }: LabRequest): Omit<DiscordMessage, 'id'> {
  if (headers['content-type']?.startsWith('application/json')) return JSON.parse(body)
  const json = /name="payload_json"\r\n\r\n(.*?)\r\n--/s.exec(body)?.[1] ?? '{}'
  return JSON.parse(json)
}

function toMessage({ id, content, nonce, attachments = [] }: DiscordMessage) {
  return {
    id,
    channel_id: CHANNEL,
    type: 0,
    content,
    author: {
      id: '7',
      username: 'lab',
      avatar: null,
      discriminator: '0',
      public_flags: 0,
      flags: 0,
      global_name: null,
      primary_guild: null,
    },
    attachments: attachments.map(({ filename }) => ({
      id: '8',
      filename,
      size: 70,
      url: 'https://cdn.example/image.png',
      proxy_url: 'https://media.example/image.png',
    })),
    embeds: [],
    components: [],
    mentions: [],
    mention_roles: [],
    mention_everyone: false,
    pinned: false,
    tts: false,
    flags: 0,
    timestamp: '2026-11-22T12:00:00.000000+00:00',
    edited_timestamp: null,
    ...(nonce === undefined ? {} : { nonce }),
  }
}

function check(contract: Contract, request: LabRequest, { status = 200, body }: LabAnswer): string[] {
  const { method, url } = request
  const path = url.pathname.replace(/^\/api(\/v10)?/, '/api/v10')
  const sent = method === 'POST' || method === 'PATCH' ? readMessage(request) : undefined
  return [...contract.request(method, path, sent), ...contract.answer(method, path, status, body)]
}
