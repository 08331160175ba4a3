import { z } from 'zod'
import { describeError, HubError } from '../../core/errors.ts'
import { callHub } from '../call-hub.ts'
import { findHub, type RunningHub } from '../find-hub.ts'
import { print, printError } from '../print.ts'

const answer = z.object({ status: z.string(), reply: z.string().optional(), conversation: z.string() })
const openApprovals = z.object({ approvals: z.array(z.unknown()) })

/** Prints the reply on stdout and the tool activity on stderr. A failed or missing reply is exit code 1. */
export async function ask(to: string, text: string, waitSeconds: number): Promise<void> {
  if (!(waitSeconds > 0 && waitSeconds <= 600)) {
    throw new HubError('invalid_arguments', '--wait: give seconds between 1 and 600')
  }
  await askHub(findHub(), { ...(to.includes('/') ? { conversation: to } : { agent: to }), text, waitSeconds })
}

interface Question {
  agent?: string
  conversation?: string
  text: string
  waitSeconds: number
}

/** Sends one message and prints the reply. Ctrl+C stops the agent; a second one leaves. */
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
    { ...question, message: text },
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
  if (status === 'waiting') await pointToApprovals(hub)
  if (status === 'failed' || status === 'pending' || status === 'waiting') process.exitCode = 1
}

async function pointToApprovals(hub: RunningHub): Promise<void> {
  const { structured } = await callHub(hub, 'hub_list_approvals', { status: 'open' })
  const { approvals } = openApprovals.parse(structured)
  if (approvals.length > 0) printError('What waits for your yes: superbloom approvals')
}
