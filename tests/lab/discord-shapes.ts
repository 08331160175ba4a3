/*
 * The objects of Discord's API, as far as a bot sees them.
 */

export const GUILD = '400000000000000001'
/** A role that some people of the server have. */
export const ROLE = '300000000000000001'
export const BOT = '500000000000000001'

export interface Person {
  id: string
  username: string
  roles?: readonly string[]
  bot?: boolean
}

/** A channel of the lab: one of the server, a thread below one, or a direct one. */
export interface LabChannel {
  id: string
  name: string
  parent?: string
  isDirect?: boolean
}

export interface LabMessage {
  id: string
  channel_id: string
  author: Person
  content: string
  nonce?: string
  mentions?: readonly Person[]
  webhook_id?: string
  components?: { components: { custom_id: string }[] }[]
  allowed_mentions?: { parse: string[] }
  message_reference?: { message_id: string }
  flags?: number
  edited?: boolean
}

export function toUser({ id, username, bot = false }: Person) {
  return {
    id,
    username,
    bot,
    avatar: null,
    discriminator: '0',
    public_flags: 0,
    flags: 0,
    global_name: null,
    primary_guild: null,
  }
}

export function toMember({ roles = [] }: Person) {
  return {
    avatar: null,
    banner: null,
    communication_disabled_until: null,
    flags: 0,
    joined_at: '2026-01-01T00:00:00.000000+00:00',
    nick: null,
    pending: false,
    premium_since: null,
    roles,
    mute: false,
    deaf: false,
  }
}

export function toMessage(message: LabMessage) {
  const { id, channel_id, author, content, nonce, mentions = [], webhook_id, components = [] } = message
  return {
    id,
    channel_id,
    type: 0,
    content,
    author: toUser(author),
    attachments: [],
    embeds: [],
    components: components.map((row, index) => ({
      type: 1,
      id: index + 1,
      components: row.components.map((button, at) => ({ ...button, id: 10 + at })),
    })),
    mentions: mentions.map(toUser),
    mention_roles: [],
    mention_everyone: false,
    pinned: false,
    tts: false,
    flags: message.flags ?? 0,
    timestamp: '2026-11-22T12:00:00.000000+00:00',
    edited_timestamp: null,
    ...(nonce === undefined ? {} : { nonce }),
    ...(webhook_id === undefined ? {} : { webhook_id }),
  }
}

export function toChannel(
  { id, name, parent, isDirect = false }: LabChannel,
  last: string | null,
  people: Person[],
) {
  if (isDirect) return { id, type: 1, flags: 0, last_message_id: last, recipients: people.map(toUser) }
  if (parent === undefined)
    return {
      id,
      type: 0,
      flags: 0,
      guild_id: GUILD,
      name,
      position: 0,
      permission_overwrites: [],
      last_message_id: last,
    }
  return {
    id,
    type: 11,
    flags: 0,
    guild_id: GUILD,
    parent_id: parent,
    name,
    owner_id: BOT,
    last_message_id: last,
    thread_metadata: { archived: false, archive_timestamp: null, auto_archive_duration: 1440, locked: false },
    message_count: 0,
    member_count: 1,
    total_message_sent: 0,
  }
}

export function toGuild(channels: object[], threads: object[]) {
  return {
    id: GUILD,
    name: 'home',
    owner_id: '100000000000000001',
    channels,
    threads,
    roles: [GUILD, ROLE].map(id => ({
      id,
      name: id === GUILD ? '@everyone' : 'family',
      permissions: '0',
      position: 0,
      color: 0,
      hoist: false,
      managed: false,
    })),
    members: [],
    member_count: 3,
    presences: [],
    voice_states: [],
    emojis: [],
    stickers: [],
    features: [],
    joined_at: '2026-01-01T00:00:00.000000+00:00',
    large: false,
    unavailable: false,
  }
}
