import { callHub } from '../../hub/cli/call-hub.ts'
import { until } from './until.ts'

/** Deletes a conversation once no agent works for it any more. */
export async function forgetConversation(
  { url, token }: { url: string; token: string },
  conversation: string,
): Promise<void> {
  const remove = () => callHub({ url, token }, 'hub_delete_conversation', { conversation })
  await until('nobody works for it any more', () =>
    remove().then(
      () => true,
      error => (/works now/.test(String(error)) ? false : Promise.reject(error)),
    ),
  )
}
