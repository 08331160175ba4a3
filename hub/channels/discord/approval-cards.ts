import {
  ButtonStyle,
  ComponentType,
  type MessageReaction,
  type PartialMessageReaction,
  type PartialUser,
  Routes,
  type User,
} from 'discord.js'
import type { Approval, Decision } from '../../../schemas/chat.ts'
import { describeError, HubError, toPublicError } from '../../core/errors.ts'
import { maskSecrets } from '../../core/mask-secrets.ts'
import { escapeUnseen, toLine, truncate } from '../../core/text.ts'
import { findApproval, listApprovals, toApproval } from '../../store/approvals.ts'
import { rolesOf } from './inbound.ts'
import { isRefusal, post, toNonce } from './outbox.ts'
import type { SessionParts } from './parts.ts'
import { channelOf, mayApprove, nameOf, type Sender } from './people.ts'

/** The most approvals that are shown at once. */
const MOST_OPEN = 500
const LONGEST_CALL = 1_200
const LONGEST_REASON = 300
const REACTIONS: Record<string, Decision['decision']> = { '✅': 'approve', '❌': 'deny' }

/** The messages that ask for a yes, with buttons; once decided they say how. */
export interface ApprovalCards {
  /** Posts what was opened, and rewrites what was decided. */
  sync(): void
  /** Decides as a person; returns what the person is told where it did not work. */
  press(approval: string, decision: Decision['decision'], sender: Sender): Promise<string | undefined>
  onReaction(reaction: MessageReaction | PartialMessageReaction, user: User | PartialUser): void
  done(): Promise<void>
}

export function createApprovalCards(parts: SessionParts): ApprovalCards {
  const { log, state, settings, decide } = parts
  let turn: Promise<void> = Promise.resolve()
  const press: ApprovalCards['press'] = async (id, decision, sender) => {
    if (!mayApprove(settings(), sender)) {
      log.warn('discord_decision_refused', { approval: id, decision, by: nameOf(sender) })
      return 'You may not answer this: the owner lists who may under channels.discord.approve of the config.'
    }
    try {
      await decide({ id, decision, by: nameOf(sender), where: 'discord' })
      return undefined
    } catch (error) {
      if (error instanceof HubError) return toPublicError(error).message
      throw error
    }
  }
  const react = async (reaction: MessageReaction | PartialMessageReaction, user: User | PartialUser) => {
    const decision = REACTIONS[reaction.emoji.name ?? '']
    // The message may be posted and not noted yet.
    await turn
    const id = state.ids('asked').find(each => state.get('asked', each)?.message === reaction.message.id)
    if (decision === undefined || id === undefined || user.id === parts.client.user?.id) return
    const { username, bot } = user.partial ? await user.fetch() : user
    if (bot) return
    const member = await reaction.message.guild?.members.fetch(user.id).catch(() => null)
    await press(id, decision, { id: user.id, username, roles: rolesOf(member ?? null) })
  }
  return {
    press,
    sync() {
      turn = turn
        .then(() => sync(parts))
        .catch(error => log.warn('discord_approvals_not_shown', { error: describeError(error) }))
    },
    onReaction(reaction, user) {
      react(reaction, user).catch(error =>
        log.warn('discord_reaction_failed', { error: describeError(error) }),
      )
    },
    done: () => turn,
  }
}

async function sync(parts: SessionParts): Promise<void> {
  const { state, settings } = parts
  const rows = await listApprovals(parts.store.db, { status: 'open', limit: MOST_OPEN })
  const open = rows.map(toApproval)
  for (const approval of open) {
    const { conversation = '', id } = approval
    const channel = state.get('sent', conversation) && channelOf(settings(), conversation)
    if (channel === undefined || state.get('asked', id)) continue
    const { content, isWhole } = describe(approval)
    const components = isWhole ? [toButtons(id)] : []
    const message = await post(parts, channel, { content, nonce: toNonce(id), components })
    await state.set('asked', id, { channel, message: message.id })
  }
  for (const id of state.ids('asked')) if (!open.some(approval => approval.id === id)) await close(parts, id)
}

/** Rewrites the message of an approval that was decided or expired: it loses its buttons. */
async function close(parts: SessionParts, id: string): Promise<void> {
  const asked = parts.state.get('asked', id)
  const row = await findApproval(parts.store.db, id)
  if (asked && row) {
    const approval = toApproval(row)
    const { status, decidedBy, note } = approval
    const outcome = `**${status}**${decidedBy === undefined ? '' : ` by ${decidedBy}`}${note ? `: ${toLine(note)}` : ''}`
    const body = {
      content: truncate(`${describe(approval).content}\n${outcome}`, 2_000),
      components: [],
      allowed_mentions: { parse: [] },
    }
    try {
      await parts.client.rest.patch(Routes.channelMessage(asked.channel, asked.message), { body })
    } catch (error) {
      // The message or the channel may be gone.
      if (!isRefusal(error)) throw error
      parts.log.warn('discord_approval_not_rewritten', { approval: id, error: describeError(error) })
    }
  }
  await parts.state.remove('asked', id)
}

/** Describes the exact call. `isWhole`: nobody approves by a button what the message leaves out. */
function describe({ number, agent, tool, arguments: args, reason, question }: Approval) {
  const given = escapeUnseen(JSON.stringify(args, undefined, 1)).replaceAll('`', '\\u0060')
  const masked = JSON.stringify(maskSecrets(args, 'arguments'), undefined, 1)
  const shown = truncate(escapeUnseen(masked).replaceAll('`', '\\u0060'), LONGEST_CALL)
  const why = truncate(escapeUnseen(toLine(reason)).replaceAll('`', "'"), LONGEST_REASON)
  const isWhole = shown === given && question !== true
  const answer = isWhole
    ? 'Answer with a button, or with ✅ or ❌.'
    : `This is not all of it, or it wants words: answer on the page, or with \`superbloom approvals approve ${number}\`.`
  const content = `**${agent}** asks for a yes (approval ${number}) to \`${tool}\`:\n\`\`\`json\n${shown}\n\`\`\`\n\`${why}\`\n${answer}`
  return { content, isWhole }
}

function toButtons(id: string) {
  const button = (label: string, decision: Decision['decision'], style: ButtonStyle) => ({
    type: ComponentType.Button,
    label,
    style,
    custom_id: `${decision}:${id}`,
  })
  const components = [
    button('Approve', 'approve', ButtonStyle.Success),
    button('Deny', 'deny', ButtonStyle.Danger),
  ]
  return { type: ComponentType.ActionRow, components }
}
