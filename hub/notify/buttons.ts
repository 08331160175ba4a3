import { hash, randomBytes } from 'node:crypto'
import type { Approval, Decision } from '../../schemas/chat.ts'
import { toButtonKey } from '../../schemas/message-buttons.ts'
import type { Clock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import { addApprovalKey, approvalOfKey } from '../store/notifications.ts'
import type { Store } from '../store/open.ts'

const KEY_BYTES = 32

/** The buttons of notifications. A key works until its approval ends, in any way. */
export interface Buttons {
  /** Makes a key that answers an approval; only its hash is stored. */
  makeKey(approval: string): Promise<string>
  /** Returns the id of the approval that a key answers; undefined for a key that does not work. */
  find(key: string): Promise<string | undefined>
  /** Decides; undefined if somebody was faster, or it cannot run any more. Throws `retired`. */
  press(approval: string, decision: Decision['decision']): Promise<Approval | undefined>
}

export interface ButtonsDeps {
  store: Store
  clock: Clock
  decide: (decision: Decision) => Promise<Approval>
}

export function createButtons({ store, clock, decide }: ButtonsDeps): Buttons {
  return {
    async makeKey(approval) {
      const key = toButtonKey(randomBytes(KEY_BYTES).toString('base64url'))
      await store.write(tx => addApprovalKey(tx, { hash: toHash(key), approval, at: clock.now() }))
      return key
    },
    find: key => approvalOfKey(store.db, toHash(key), clock.now()),
    async press(id, decision) {
      try {
        return await decide({ id, decision, by: 'owner', where: 'button' })
      } catch (error) {
        const isOver = error instanceof HubError && (error.code === 'conflict' || error.code === 'not_found')
        if (isOver) return undefined
        throw error
      }
    },
  }
}

function toHash(key: string): string {
  return hash('sha256', key)
}
