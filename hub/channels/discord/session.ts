import { Client, DiscordAPIError, Events, GatewayIntentBits, Partials } from 'discord.js'
import type { DiscordSettings } from '../../../schemas/discord.ts'
import { describeError } from '../../core/errors.ts'
import { isObject } from '../../core/forwarding.ts'
import type { Log } from '../../core/log.ts'
import { createApprovalCards } from './approval-cards.ts'
import type { DiscordDeps } from './discord.ts'
import { GuardedSharding, guardEvents, type OnThrow } from './guard-frames.ts'
import { createInbound } from './inbound.ts'
import { answerInteraction, SLASH_COMMANDS } from './interactions.ts'
import { createOutbox } from './outbox.ts'
import { DiscordState } from './state.ts'
import { createTyping } from './typing.ts'

/** Why a login failed; `isFinal`: only a person, here or at Discord, changes it. */
export interface LoginFailure {
  problem: string
  isFinal: boolean
}

/** A connection of the bot, which the library keeps open and resumes. */
export interface Session extends AsyncDisposable {
  readonly problems: readonly string[]
  login(): Promise<LoginFailure | undefined>
  /** Resolves when Discord sent what leaves the connection unusable. */
  readonly broken: Promise<LoginFailure>
  /** Looks at the channels again, which the config may have changed. */
  refresh(): Promise<void>
}

/** Close codes of the gateway after which the library does not come back, with what to do. */
const FATAL: Record<number, string> = {
  4004: 'Discord does not take the token: make another one on the page Bot of https://discord.com/developers/applications and put it where channels.discord.token of the config takes it from.',
  4013: 'Discord does not know an intent of this version of the hub; update it.',
  4014: 'Discord refuses the intent MESSAGE CONTENT: switch it on under Privileged Gateway Intents on the page Bot of https://discord.com/developers/applications. The hub tries again every ten minutes, and when the config changes.',
}

const INTENTS = [
  GatewayIntentBits.Guilds,
  GatewayIntentBits.GuildMessages,
  GatewayIntentBits.GuildMessageReactions,
  GatewayIntentBits.DirectMessages,
  GatewayIntentBits.DirectMessageReactions,
  GatewayIntentBits.MessageContent,
]

/** Creates the judge of frames that the library cannot read: events are skipped, and `broken` resolves after others. */
function judgeFrames(log: Log, problems: Map<string, string>) {
  const { promise: broken, resolve: onBroken } = Promise.withResolvers<LoginFailure>()
  const onUnreadable = (error: unknown, frame: unknown) => {
    const type = typeOf(frame)
    const isSkipped = type !== undefined && type !== 'READY'
    const why = `Discord sent what the hub cannot read (${type ?? 'a frame'}): ${describeError(error)}.`
    log.error('discord_frame_failed', { type, error, isSkipped })
    if (isSkipped) problems.set('frame', `${why} It was skipped; an update of the hub may read it.`)
    else onBroken({ problem: `${why} The hub connects again.`, isFinal: false })
  }
  return { broken, onUnreadable }
}

function createClient({ api }: DiscordSettings, onUnreadable: OnThrow): Client {
  const client = new Client({
    intents: INTENTS,
    // Direct messages and reactions to older messages come without what the library has not seen.
    partials: [Partials.Channel, Partials.Message, Partials.Reaction, Partials.User],
    allowedMentions: { parse: [], repliedUser: false },
    ...(api === undefined ? {} : { rest: { api } }),
    ws: { buildStrategy: manager => new GuardedSharding(manager, onUnreadable) },
  })
  guardEvents(client, onUnreadable)
  return client
}

export async function openSession(deps: DiscordDeps, opened: DiscordSettings): Promise<Session> {
  const { log, signals } = deps
  const settings = () => deps.settings() ?? opened
  const state = await DiscordState.open(deps.store)
  const problems = new Map<string, string>()
  const { broken, onUnreadable } = judgeFrames(log, problems)
  const client = createClient(opened, onUnreadable)
  const common = { ...deps, settings, state, client, problems }
  const outbox = createOutbox(common)
  const typing = createTyping(common)
  const inbound = createInbound({ ...common, outbox, typing })
  const cards = createApprovalCards(common)
  const refresh = async () => {
    await outbox.follow()
    cards.sync()
    await inbound.catchUp()
  }
  const onReady = () => {
    problems.delete('gateway')
    refresh().then(
      () => log.info('discord_connected', { bot: client.user?.tag }),
      error => log.error('discord_catch_up_failed', { error }),
    )
  }
  client.on(Events.ShardReady, onReady)
  client.on(Events.ShardResume, onReady)
  client.on(Events.Error, error => log.warn('discord_error', { error }))
  client.on(Events.ShardError, error => log.warn('discord_connection_error', { error: describeError(error) }))
  client.on(Events.ShardDisconnect, ({ code }) => {
    problems.set('gateway', FATAL[code] ?? `Discord closed the connection with ${code}.`)
    log.error('discord_disconnected', { code })
  })
  client.on(Events.MessageCreate, inbound.take)
  client.on(Events.MessageReactionAdd, cards.onReaction)
  client.on(Events.InteractionCreate, interaction => {
    answerInteraction({ ...common, inbound, cards }, interaction).catch(error =>
      log.warn('discord_interaction_failed', { error: describeError(error) }),
    )
  })
  const offs = [
    signals.on('message', outbox.onMessage),
    signals.on('forgotten', ({ conversation }) => outbox.forget(conversation)),
    signals.on('approval', cards.sync),
  ]
  return {
    get problems() {
      return [...problems.values()]
    },
    refresh,
    broken,
    async login() {
      try {
        const failure = await Promise.race([client.login(opened.token), broken])
        if (typeof failure === 'object') return failure
        await client.application?.commands.set([...SLASH_COMMANDS])
        return undefined
      } catch (error) {
        return toFailure(error)
      }
    },
    async [Symbol.asyncDispose]() {
      for (const off of offs) off()
      typing[Symbol.dispose]()
      await client.destroy()
      await Promise.all([inbound.done(), outbox[Symbol.asyncDispose](), cards.done()])
    },
  }
}

/** Returns the type of an event; undefined for any other frame. */
function typeOf(frame: unknown): string | undefined {
  return isObject(frame) && typeof frame['t'] === 'string' ? frame['t'] : undefined
}

function toFailure(error: unknown): LoginFailure {
  const words = describeError(error)
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'TokenInvalid' || (error instanceof DiscordAPIError && error.status === 401))
    return { problem: FATAL[4004] ?? words, isFinal: true }
  // The library says this in words alone.
  if (/disallowed intents/i.test(words)) return { problem: FATAL[4014] ?? words, isFinal: true }
  return { problem: `Discord cannot be reached: ${words}. The hub tries again.`, isFinal: false }
}
