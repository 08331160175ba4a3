import { z } from 'zod'
import { conversationId } from '../../../schemas/names.ts'
import { plural } from '../../core/text.ts'
import { deleteConversation } from '../../store/delete-conversation.ts'
import type { HubToolDeps } from './deps.ts'
import { defineHubTool, type HubTool } from './hub-tool.ts'

export function deleteOneConversation(deps: HubToolDeps): HubTool {
  return defineHubTool({
    name: 'hub_delete_conversation',
    title: 'Delete a conversation',
    description:
      "Deletes a conversation for good, together with what its agents' history, search and summaries hold of it. Stored facts, active schedules and backups stay. There is no undo.",
    input: z.strictObject({ conversation: conversationId }),
    output: z.object({
      conversation: z.string(),
      messages: z.int(),
      inboxItems: z.int(),
      cycles: z.int().describe('whose steps, calls and results are gone'),
      historyRows: z.int(),
      summaries: z.int().describe('written anew without it'),
      schedules: z.array(z.string()).describe('made in it; they go on'),
    }),
    effect: 'removes',
    async run({ conversation }) {
      const deleted = await deps.store.write(tx => deleteConversation(tx, conversation))
      deps.signals.emit('forgotten', { conversation })
      await deps.store.compact()
      return { conversation, ...deleted }
    },
    toText: ({ conversation, messages, historyRows, summaries, schedules }) => {
      const goOn =
        schedules.length === 0
          ? ''
          : ` Schedules made in it go on: ${schedules.join(', ')}; hub_cancel_schedule ends them.`
      return `Deleted ${conversation}: ${plural(messages, 'message')}, ${plural(historyRows, 'row')} of history; summaries written anew: ${summaries}.${goOn} Backups made before still hold it.`
    },
  })
}
