import type { Command } from 'commander'
import { describeApproval } from '../../mcp/hub-tools/approvals.ts'
import { callHub } from '../call-hub.ts'
import { findHub } from '../find-hub.ts'
import { print } from '../print.ts'
import { sendDecision } from '../send-decision.ts'

export function define(command: Command): void {
  command.option('--all', 'what was decided too').action(async ({ all }: { all?: boolean }) => {
    const { text } = await callHub(findHub(), 'hub_list_approvals', all ? {} : { status: 'open' })
    print(text === 'No approvals.' && !all ? 'Nothing waits for your yes.' : text)
  })
  const described = { approve: 'run exactly that call, once', deny: 'never run it' } as const
  for (const decision of ['approve', 'deny'] as const) {
    command
      .command(decision)
      .description(described[decision])
      .argument('<id>', 'the approval')
      .option('--note <text>', 'told to the agent')
      .action(async (approval: string, note: { note?: string }) =>
        print(describeApproval(await sendDecision(findHub(), { approval, decision, ...note }))),
      )
  }
}
