import type { LabAnswer } from '../../hub/demo/http.ts'
import { createRecord } from '../support/until.ts'
import {
  type CheckedLab,
  type CheckedOptions,
  type RouteRequest,
  type Routes,
  startChecked,
} from './checked.ts'
import { startGateway } from './discord-gateway.ts'
import {
  BOT,
  GUILD,
  type LabChannel,
  type LabMessage,
  type Person,
  toChannel,
  toGuild,
  toMember,
  toMessage,
  toUser,
} from './discord-shapes.ts'

export const BOT_TOKEN = 'MTk4.lab.bot-token'
const BOT_USER: Person = { id: BOT, username: 'hub', bot: true }
const NONE: LabAnswer = { status: 204, body: '' }

/** A stand-in for Discord, by its published API descriptions: REST and gateway for one bot in one server. */
export interface DiscordLab extends Omit<CheckedLab, 'requests'> {
  readonly api: string
  readonly gateway: ReturnType<typeof startGateway>
  /** Requests of the bot; answers to interactions are among them. */
  readonly requests: CheckedLab['requests']
  /** Everything that was written, by people and by the bot, in order. */
  readonly messages: ReturnType<typeof createRecord<LabMessage>>
  /** What the bot wrote in a channel. */
  said(channel: string): string[]
  /** A person writes; `isLost`: nobody is told, as while the bot is away. */
  say(
    who: Person,
    channel: LabChannel,
    text: string,
    more?: { isLost?: boolean; webhook?: boolean },
  ): LabMessage
  /** Delivers a message again. */
  repeat(message: LabMessage): void
  press(who: Person, message: LabMessage, button: string): string
  command(who: Person, channel: LabChannel, name: string, options?: Record<string, string>): string
  react(who: Person, message: LabMessage, emoji: string): void
  allowContent(isAllowed: boolean): void
  /** Answers the next requests that post messages with this, before or after they are carried out. */
  failPosts(failure: { times: number; isAfter: boolean } | undefined): void
}

export interface BotOptions extends CheckedOptions {
  channels: readonly LabChannel[]
  people: readonly Person[]
}

export async function startDiscordBot({ channels, people, ...options }: BotOptions): Promise<DiscordLab> {
  const messages = createRecord<LabMessage>()
  let made = 0
  let mayReadContent = true
  let failure: { times: number; isAfter: boolean } | undefined
  const newId = () => String(900000000000000000n + BigInt(++made))
  const lastOf = (id: string) => messages.all.findLast(({ channel_id }) => channel_id === id)?.id ?? null
  const shapeOf = (channel: LabChannel) => toChannel(channel, lastOf(channel.id), [...people])
  const inGuild = (channel: LabChannel) => !channel.isDirect
  const write = ({ slots: [channel_id = ''], json }: RouteRequest): LabAnswer => {
    const given = json as Omit<LabMessage, 'id' | 'author' | 'channel_id'>
    const isFailing = failure !== undefined && failure.times > 0
    if (failure && isFailing) failure.times--
    if (isFailing && !failure?.isAfter) return { status: 502, body: { message: 'Bad Gateway' } }
    const known = messages.all.find(one => one.author === BOT_USER && given.nonce === one.nonce)
    const message = known ?? { ...given, id: newId(), channel_id, author: BOT_USER }
    if (!known) messages.add(message)
    return isFailing ? { status: 502, body: { message: 'Bad Gateway' } } : { body: toMessage(message) }
  }
  const edit = ({ slots: [, id], json }: RouteRequest): LabAnswer => {
    const message = messages.all.find(one => one.id === id)
    if (!message) return { status: 404, body: { message: 'Unknown Message', code: 10008 } }
    Object.assign(message, json, { edited: true })
    messages.add({ ...message })
    messages.all.pop()
    return { body: toMessage(message) }
  }
  const read = ({ slots: [id], url }: RouteRequest): LabAnswer => {
    const after = BigInt(url.searchParams.get('after') ?? 0)
    const newer = messages.all.filter(one => one.channel_id === id && BigInt(one.id) > after)
    const page = newer.slice(0, Number(url.searchParams.get('limit') ?? 50))
    return { body: page.reverse().map(toMessage) }
  }
  const routes: Routes = {
    'GET /api/v10/gateway/bot': () => ({
      body: {
        url: `${lab.url.replace('http', 'ws')}`,
        shards: 1,
        session_start_limit: { total: 1000, remaining: 999, reset_after: 0, max_concurrency: 1 },
      },
    }),
    'GET /api/v10/channels/:id': ({ slots: [id] }) => {
      const channel = channels.find(one => one.id === id)
      return channel
        ? { body: shapeOf(channel) }
        : { status: 404, body: { message: 'Unknown Channel', code: 10003 } }
    },
    'GET /api/v10/channels/:id/messages': read,
    'POST /api/v10/channels/:id/messages': write,
    'PATCH /api/v10/channels/:id/messages/:message': edit,
    'POST /api/v10/channels/:id/typing': () => NONE,
    'PUT /api/v10/applications/:id/commands': ({ json }) => ({
      body: (json as object[]).map(command => ({
        description: '',
        ...command,
        id: newId(),
        application_id: BOT,
        version: '1',
        default_member_permissions: null,
        type: 1,
      })),
    }),
    'POST /api/v10/interactions/:id/:token/callback': () => NONE,
    'PATCH /api/v10/webhooks/:id/:token/messages/:message': ({ json }) => ({
      body: toMessage({ id: newId(), channel_id: GUILD, author: BOT_USER, ...(json as { content: string }) }),
    }),
    'POST /api/v10/webhooks/:id/:token': ({ json }) => ({
      body: toMessage({ id: newId(), channel_id: GUILD, author: BOT_USER, ...(json as { content: string }) }),
    }),
    'GET /api/v10/guilds/:guild/members/:user': ({ slots: [, id] }) => {
      const person = people.find(one => one.id === id)
      return person
        ? { body: { ...toMember(person), user: toUser(person) } }
        : { status: 404, body: { message: 'Unknown Member', code: 10007 } }
    },
  }
  const isOpen = (path: string) => /\/(interactions|webhooks)\//.test(path)
  const lab = await startChecked({
    ...options,
    routes,
    refuse: ({ headers, url }) =>
      headers.authorization === `Bot ${BOT_TOKEN}` || isOpen(url.pathname)
        ? undefined
        : { status: 401, body: { message: '401: Unauthorized', code: 0 } },
  })
  const gateway = startGateway(lab.server, {
    token: BOT_TOKEN,
    mayReadContent: () => mayReadContent,
    url: () => lab.url.replace('http', 'ws'),
    ready: {
      user: toUser(BOT_USER),
      guilds: [{ id: GUILD, unavailable: true }],
      application: { id: BOT, flags: 0 },
      shard: [0, 1],
    },
    guild: () =>
      toGuild(
        channels.filter(one => inGuild(one) && !one.parent).map(shapeOf),
        channels.filter(one => one.parent).map(shapeOf),
      ),
  })
  const typeOf = (id: string) => {
    const channel = channels.find(one => one.id === id)
    return channel && shapeOf(channel).type
  }
  const isDirect = (id: string) => channels.find(one => one.id === id)?.isDirect === true
  const ofGuild = (who: Person, id: string) =>
    isDirect(id) ? {} : { guild_id: GUILD, member: toMember(who) }
  const tell = (message: LabMessage) =>
    gateway.dispatch('MESSAGE_CREATE', {
      ...toMessage(message),
      channel_type: typeOf(message.channel_id),
      ...ofGuild(message.author, message.channel_id),
    })
  const interact = (who: Person, channel_id: string, interaction: object) => {
    const id = newId()
    const channel = channels.find(one => one.id === channel_id)
    const by = channel?.isDirect
      ? { user: toUser(who) }
      : { guild_id: GUILD, member: { ...toMember(who), user: toUser(who), permissions: '0' } }
    const base = { id, application_id: BOT, token: `token-${id}`, version: 1, channel_id, locale: 'en-US' }
    const rest = {
      entitlements: [],
      authorizing_integration_owners: {},
      attachment_size_limit: 1,
      app_permissions: '0',
    }
    gateway.dispatch('INTERACTION_CREATE', {
      ...base,
      ...rest,
      channel: channel && shapeOf(channel),
      ...by,
      ...interaction,
    })
    return id
  }
  return {
    ...lab,
    api: `${lab.url}/api`,
    gateway,
    messages,
    said: channel =>
      messages.all.flatMap(one =>
        one.author === BOT_USER && one.channel_id === channel ? [one.content] : [],
      ),
    say(who, channel, text, { isLost = false, webhook = false } = {}) {
      const mentions = text.includes(`<@${BOT}>`) ? [BOT_USER] : []
      const message = {
        id: newId(),
        channel_id: channel.id,
        author: who,
        content: text,
        mentions,
        ...(webhook ? { webhook_id: '77' } : {}),
      }
      messages.add(message)
      if (!isLost) tell(message)
      return message
    },
    repeat: tell,
    press: (who, message, button) => {
      const ids = message.components?.flatMap(row => row.components.map(({ custom_id }) => custom_id)) ?? []
      const custom_id = ids.find(each => each.startsWith(button)) ?? `${button}:none`
      const data = { custom_id, component_type: 2, id: 1 }
      return interact(who, message.channel_id, { type: 3, data, message: toMessage(message) })
    },
    command: (who, channel, name, given = {}) => {
      const values = Object.entries(given).map(([option, value]) => ({ name: option, type: 3, value }))
      return interact(who, channel.id, { type: 2, data: { id: '1', name, type: 1, options: values } })
    },
    react: (who, { id, channel_id }, emoji) =>
      gateway.dispatch('MESSAGE_REACTION_ADD', {
        user_id: who.id,
        channel_id,
        message_id: id,
        emoji: { id: null, name: emoji },
        ...(isDirect(channel_id) ? {} : { guild_id: GUILD, member: { ...toMember(who), user: toUser(who) } }),
        type: 0,
        burst: false,
      }),
    allowContent(isAllowed) {
      mayReadContent = isAllowed
    },
    failPosts(next) {
      failure = next
    },
    async [Symbol.asyncDispose]() {
      gateway.close()
      await lab[Symbol.asyncDispose]()
    },
  }
}
