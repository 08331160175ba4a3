import type { Client } from 'discord.js'
import type { DiscordSettings } from '../../../schemas/discord.ts'
import type { DiscordDeps } from './discord.ts'
import type { DiscordState } from './state.ts'

/** The dependencies that the parts of a session share. */
export interface SessionParts extends Omit<DiscordDeps, 'settings'> {
  settings: () => DiscordSettings
  state: DiscordState
  client: Client
  /** The problems, by their subject. */
  problems: Map<string, string>
}

/** Returns who answers in a conversation, without one who answers by default; undefined where there is no agent. */
export function findAgent(
  { settings, agents, agentsOf }: Pick<SessionParts, 'settings' | 'agents' | 'agentsOf'>,
  conversation: string | undefined,
): string | undefined {
  if (conversation !== undefined) return agentsOf(conversation)[0]
  const all = agents()
  const { agent = 'homelab' } = settings()
  return all.includes(agent) ? agent : all[0]
}
