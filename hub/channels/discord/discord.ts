import type { DiscordSettings } from '../../../schemas/discord.ts'
import type { Clock } from '../../core/clock.ts'
import { describeError } from '../../core/errors.ts'
import type { Store } from '../../store/open.ts'
import type { Chat } from '../chat.ts'
import type { LoginFailure, Session } from './session.ts'

export interface DiscordDeps extends Chat {
  store: Store
  clock: Pick<Clock, 'after' | 'now'>
  /** Returns the settings as they are now; undefined where nobody wants Discord. */
  settings: () => DiscordSettings | undefined
  agents: () => readonly string[]
  /** Returns the agents of a conversation, the first of which answers. */
  agentsOf: (conversation: string) => readonly string[]
  /** Describes the hub for its owner. */
  describeStatus: () => Promise<string>
}

/** The bot on Discord; nothing of it is loaded where the config does not ask for it. */
export interface DiscordChannel extends AsyncDisposable {
  /** The problems of the bot, each with its remedy. */
  readonly problems: readonly string[]
}

/** Milliseconds between tries to log in: while Discord cannot be reached, and while a person has to mend something. */
export const RETRY_MS = { unreachable: 30_000, refused: 10 * 60_000 }

/** Opens the channel, which follows the config: another token or address opens another session. */
export function openDiscord(deps: DiscordDeps): DiscordChannel {
  const { signals, clock, log } = deps
  let session: Session | undefined
  let problem: string | undefined
  let opened: string | undefined
  let cancel: (() => void) | undefined
  let turn: Promise<void> = Promise.resolve()
  const close = async () => {
    cancel?.()
    const closing = session
    session = undefined
    problem = undefined
    await closing?.[Symbol.asyncDispose]()
  }
  const open = async () => {
    const settings = deps.settings()
    const key = settings && JSON.stringify([settings.token, settings.api])
    if (key === opened && problem === undefined) return session?.refresh()
    opened = key
    await close()
    if (!settings) return
    const { openSession } = await import('./session.ts')
    const opening = await openSession(deps, settings)
    session = opening
    const outcome = await opening.login()
    if (outcome) return retry(outcome)
    void opening.broken.then(failure => {
      if (session === opening) retry(failure)
    })
  }
  const retry = (failure: LoginFailure) => {
    problem = failure.problem
    log.error('discord_login_failed', { problem })
    cancel = clock.after(failure.isFinal ? RETRY_MS.refused : RETRY_MS.unreachable, follow)
  }
  const follow = () => {
    turn = turn.then(open).catch(error => {
      problem = `Discord: ${describeError(error)}`
      log.error('discord_failed', { error })
    })
  }
  const off = signals.on('config', follow)
  follow()
  return {
    get problems() {
      // A refused intent ends the login and the connection.
      return [...new Set([...(problem === undefined ? [] : [problem]), ...(session?.problems ?? [])])]
    },
    async [Symbol.asyncDispose]() {
      off()
      turn = turn.then(close)
      await turn
    },
  }
}
