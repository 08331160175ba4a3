import {
  ApplicationCommandOptionType,
  type ButtonInteraction,
  type ChatInputCommandInteraction,
  type Interaction,
  MessageFlags,
} from 'discord.js'
import { decisions } from '../../../schemas/chat.ts'
import { describeError, HubError, toPublicError } from '../../core/errors.ts'
import { checkUse } from '../../core/principal.ts'
import { truncate } from '../../core/text.ts'
import type { ApprovalCards } from './approval-cards.ts'
import { type Inbound, rolesOf } from './inbound.ts'
import type { SessionParts } from './parts.ts'
import { nameOf, type Place, type Sender } from './people.ts'

/** Characters of Discord's longest message, less the marks around. */
const LONGEST = 1_900

export const SLASH_COMMANDS = [
  {
    name: 'ask',
    description: 'Ask the agent of this channel',
    options: [
      {
        name: 'text',
        description: 'what to say',
        type: ApplicationCommandOptionType.String,
        required: true,
        maxLength: LONGEST,
      },
    ],
  },
  { name: 'status', description: 'What the hub does now' },
  { name: 'stop', description: 'Stop what the agent of this channel does' },
] as const

interface InteractionDeps extends SessionParts {
  inbound: Inbound
  cards: ApprovalCards
}

/** Answers a button or a command. Discord waits three seconds, so each is acknowledged before anything else is done. */
export async function answerInteraction(deps: InteractionDeps, interaction: Interaction): Promise<void> {
  if (interaction.isButton()) return answerButton(deps, interaction)
  if (interaction.isChatInputCommand()) return answerCommand(deps, interaction)
}

async function answerButton({ cards, log }: InteractionDeps, button: ButtonInteraction): Promise<void> {
  const [given, id = ''] = button.customId.split(':')
  const decision = decisions.find(each => each === given)
  if (decision === undefined) return
  // A press that Discord acknowledges too late decides all the same; the first answer wins.
  await button.deferUpdate().catch(error => log.warn('discord_button_late', { error: describeError(error) }))
  const refused = await cards.press(id, decision, toSender(button))
  if (refused !== undefined) await button.followUp({ content: refused, flags: MessageFlags.Ephemeral })
}

async function answerCommand(deps: InteractionDeps, command: ChatInputCommandInteraction): Promise<void> {
  const isAsk = command.commandName === 'ask'
  // A command that Discord took for lost is written again by the person: it is not carried out.
  await command.deferReply(isAsk ? {} : { flags: MessageFlags.Ephemeral })
  try {
    await command.editReply({ content: truncate(await carryOut(deps, command), LONGEST) })
  } catch (error) {
    if (!(error instanceof HubError)) throw error
    await command.editReply({ content: toPublicError(error).message })
  }
}

/** Carries a command out; returns what its author is told. */
async function carryOut(deps: InteractionDeps, command: ChatInputCommandInteraction): Promise<string> {
  const sender = toSender(command)
  const place = toPlace(command)
  if (command.commandName === 'ask') {
    const text = command.options.getString('text', true)
    await deps.inbound.post({ sender, place, text, id: command.id })
    return `> ${text.replaceAll('\n', '\n> ')}`
  }
  const located = deps.inbound.locate(sender, place)
  if (!located || located.principal.role === 'guest')
    throw new HubError('forbidden', 'This is for the people in the config of this bot.')
  if (command.commandName === 'stop') {
    checkUse(deps.mayUse, located.principal, located.conversation)
    const count = await deps.stop({ conversation: located.conversation }, nameOf(sender))
    return count > 0 ? 'Stopping.' : 'Nothing is running; there is nothing to stop.'
  }
  if (located.principal.role !== 'owner')
    throw new HubError('forbidden', 'Only the owner sees what the hub does.')
  return deps.describeStatus()
}

function toSender({ user, member }: ButtonInteraction | ChatInputCommandInteraction): Sender {
  return { id: user.id, username: user.username, roles: rolesOf(member) }
}

function toPlace({ channelId, channel }: ChatInputCommandInteraction): Place {
  return { channel: channelId, parent: channel?.isThread() ? channel.parentId : undefined, isAddressed: true }
}
