import type { Command } from 'commander'
import { z } from 'zod'
import { systemTimezone } from '../../core/clock.ts'
import { describeError, HubError } from '../../core/errors.ts'
import { describeApproval } from '../../mcp/hub-tools/approvals.ts'
import { readOpenApprovals } from '../approvals.ts'
import { callHub } from '../call-hub.ts'
import { findHub, type RunningHub } from '../find-hub.ts'
import { print, printError } from '../print.ts'

const answer = z.object({ status: z.string(), reply: z.string().optional(), conversation: z.string() })

export function define(command: Command): void {
  command
    .argument('<agent>', 'the agent, or a conversation <agent>/<slug>')
    .argument('<text...>', 'what to say')
    .option('--wait <seconds>', 'how long to wait for the reply', '300')
    .action(async (to: string, text: string[], { wait }: { wait: string }) => {
      const waitSeconds = Number(wait)
      if (!(waitSeconds > 0 && waitSeconds <= 600)) {
        throw new HubError('invalid_arguments', '--wait: give seconds between 1 and 600')
      }
      const target = to.includes('/') ? { conversation: to } : { agent: to }
      await askHub(findHub(), { ...target, text: text.join(' '), waitSeconds })
    })
}

interface Question {
  agent?: string
  conversation?: string
  text: string
  waitSeconds: number
}

/**
 * Sends one message, and prints the reply on stdout and the tool activity on stderr. A failed or missing reply
 * is exit code 1. Ctrl+C stops the agent; a second one leaves.
 */
export async function askHub(hub: RunningHub, { text, ...question }: Question): Promise<void> {
  const conversation = question.conversation ?? question.agent
  const stop = () => {
    process.stderr.write('Stopping the agent; Ctrl+C again leaves.\n')
    callHub(hub, 'hub_stop', { conversation }).catch(error =>
      process.stderr.write(`It could not be stopped: ${describeError(error)}\n`),
    )
  }
  process.once('SIGINT', stop)
  try {
    await sendAndPrint(hub, { ...question, text })
  } finally {
    process.off('SIGINT', stop)
  }
}

async function sendAndPrint(hub: RunningHub, { text, ...question }: Question): Promise<void> {
  const { structured } = await callHub(
    hub,
    'hub_chat',
    { ...question, message: text, timezone: systemTimezone() },
    {
      timeout: (question.waitSeconds + 30) * 1000,
      onProgress: printError,
    },
  )
  const { status, reply, conversation } = answer.parse(structured)
  if (reply !== undefined) print(reply)
  if (status === 'pending') {
    printError(`The agent still works on it; read its reply later in the conversation ${conversation}.`)
  }
  if (status === 'waiting') await showOpenApprovals(hub, conversation)
  if (status === 'failed' || status === 'pending' || status === 'waiting') process.exitCode = 1
}

/** Prints the exact calls that wait for a person's yes, and how to decide each. */
async function showOpenApprovals(hub: RunningHub, conversation: string): Promise<void> {
  for (const approval of await readOpenApprovals(hub, conversation)) {
    const { id } = approval
    printError(`Waits for your yes: ${describeApproval(approval)}`)
    printError(`  superbloom approvals approve ${id}, or superbloom approvals deny ${id}`)
  }
}
