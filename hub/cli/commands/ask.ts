import type { Command } from 'commander'
import { z } from 'zod'
import type { Approval } from '../../../schemas/chat.ts'
import { systemTimezone } from '../../core/clock.ts'
import { describeError, HubError } from '../../core/errors.ts'
import { describeApproval } from '../../mcp/hub-tools/approvals.ts'
import { readOpenApprovals } from '../approvals.ts'
import { callHub } from '../call-hub.ts'
import { findHub, type RunningHub } from '../find-hub.ts'
import { print, printError, printJson } from '../print.ts'

const answer = z.looseObject({ status: z.string(), reply: z.string().optional(), conversation: z.string() })

/** Exit codes of what is no reply; 1 is also that of every error. */
const EXIT_CODES: Record<string, number> = { failed: 1, waiting: 2, pending: 3 }

export function define(command: Command): void {
  command
    .argument('<agent>', 'the agent, or a conversation <agent>/<slug>')
    .argument('<text...>', 'what to say')
    .option('--wait <seconds>', 'how long to wait for the reply', '300')
    .option('--json', 'print one JSON object: conversation, status, messageId, reply, approvals')
    .action(async (to: string, text: string[], { wait, json }: { wait: string; json?: boolean }) => {
      const waitSeconds = Number(wait)
      if (!(waitSeconds > 0 && waitSeconds <= 600)) {
        throw new HubError('invalid_arguments', '--wait: give seconds between 1 and 600')
      }
      const target = to.includes('/') ? { conversation: to } : { agent: to }
      await askHub(findHub(), { ...target, text: text.join(' '), waitSeconds }, json)
    })
    .addHelpText(
      'after',
      '\nExit codes: 0 replied, 1 failed, 2 something waits for your yes, 3 the agent still works on it.',
    )
}

interface Question {
  agent?: string
  conversation?: string
  text: string
  waitSeconds: number
}

/**
 * Sends one message, and prints the reply, or with `json` one object, on stdout and the tool activity on
 * stderr. The exit code shows what came of it. Ctrl+C stops the agent; a second one leaves.
 */
export async function askHub(hub: RunningHub, { text, ...question }: Question, json = false): Promise<void> {
  const conversation = question.conversation ?? question.agent
  const stop = () => {
    process.stderr.write('Stopping the agent; Ctrl+C again leaves.\n')
    callHub(hub, 'hub_stop', { conversation }).catch(error =>
      process.stderr.write(`It could not be stopped: ${describeError(error)}\n`),
    )
  }
  process.once('SIGINT', stop)
  try {
    const outcome = await send(hub, { ...question, text })
    const isWaiting = outcome.status === 'waiting'
    const approvals = isWaiting ? await readOpenApprovals(hub, outcome.conversation) : []
    if (json) printJson({ ...outcome, ...(isWaiting ? { approvals } : {}) })
    else printOutcome(outcome, approvals)
    process.exitCode = EXIT_CODES[outcome.status] ?? process.exitCode
  } finally {
    process.off('SIGINT', stop)
  }
}

async function send(hub: RunningHub, { text, ...question }: Question) {
  const { structured } = await callHub(
    hub,
    'hub_chat',
    { ...question, message: text, timezone: systemTimezone() },
    {
      timeout: (question.waitSeconds + 30) * 1000,
      onProgress: printError,
    },
  )
  return answer.parse(structured)
}

/** Prints the reply, and the exact calls that wait for a person's yes with how to decide each. */
function printOutcome({ status, reply, conversation }: z.infer<typeof answer>, approvals: Approval[]): void {
  if (reply !== undefined) print(reply)
  if (status === 'pending') {
    printError(`The agent still works on it; read its reply later in the conversation ${conversation}.`)
  }
  for (const approval of approvals) {
    const { number } = approval
    printError(`Waits for your yes: ${describeApproval(approval)}`)
    printError(`  superbloom approvals approve ${number}, or superbloom approvals deny ${number}`)
  }
}
