import { z } from 'zod'
import { HubError } from '../../core/errors.ts'
import { callHub } from '../call-hub.ts'
import { findHub } from '../find-hub.ts'

const answer = z.object({ status: z.string(), reply: z.string().optional(), conversation: z.string() })

/** Prints the reply on stdout and the tool activity on stderr. A failed or missing reply is exit code 1. */
export async function ask(to: string, text: string, waitSeconds: number): Promise<void> {
  if (!(waitSeconds > 0 && waitSeconds <= 600)) {
    throw new HubError('invalid_arguments', '--wait: give seconds between 1 and 600')
  }
  const target = to.includes('/') ? { conversation: to } : { agent: to }
  const { structured } = await callHub(
    findHub(),
    'hub_chat',
    { ...target, message: text, waitSeconds },
    {
      timeout: (waitSeconds + 30) * 1000,
      onProgress: message => process.stderr.write(`${message}\n`),
    },
  )
  const { status, reply, conversation } = answer.parse(structured)
  if (reply !== undefined) console.log(reply)
  if (status === 'pending') {
    console.error(`${to} still works on it; read its reply later in the conversation ${conversation}.`)
  }
  if (status === 'failed' || status === 'pending') process.exitCode = 1
}
