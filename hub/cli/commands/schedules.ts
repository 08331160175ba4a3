import { callHub } from '../call-hub.ts'
import { findHub } from '../find-hub.ts'
import { print } from '../print.ts'

/** Prints the pending wake-ups of one agent or of all. */
export async function listSchedules(options: { agent?: string }): Promise<void> {
  print((await callHub(findHub(), 'hub_list_schedules', options)).text)
}

export interface NewWake {
  agent?: string
  delay?: string
  at?: string
  cron?: string
  timezone?: string
  wakeOn?: string[]
}

/** Schedules a wake-up of an agent, with `reason` as its note. */
export async function createSchedule(reason: string, { wakeOn, ...wake }: NewWake): Promise<void> {
  const args = { ...wake, reason, ...(wakeOn ? { wakeOnEvents: wakeOn } : {}) }
  print((await callHub(findHub(), 'hub_create_schedule', args)).text)
}

export async function cancelSchedule(id: string): Promise<void> {
  print((await callHub(findHub(), 'hub_cancel_schedule', { id })).text)
}
