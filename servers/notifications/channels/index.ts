import { apprise } from './apprise.ts'
import type { ChannelKind } from './channel.ts'
import { discordBot, discordWebhook } from './discord.ts'
import { email } from './email.ts'
import { gotify } from './gotify.ts'
import { ntfy } from './ntfy.ts'
import { webhook } from './webhook.ts'

/** Every kind of channel. */
export const channelKinds: readonly ChannelKind[] = [
  ntfy,
  discordWebhook,
  discordBot,
  email,
  gotify,
  webhook,
  apprise,
]
