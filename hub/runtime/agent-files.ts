import { createHash } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { type MissedPolicy, nextOccurrence } from '../core/schedule-plan.ts'
import { listRetired, syncAgents } from '../store/agents.ts'
import type { Store } from '../store/open.ts'
import { changeSchedule, createSchedule, holdSchedules, schedulesOfFiles } from '../store/schedules.ts'
import type { ScheduleRow } from '../store/tables.ts'
import { ensureMainThread } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'

export interface FileAgent {
  name: string
  schedules: readonly FileSchedule[]
}

interface FileSchedule {
  cron: string
  timezone?: string | undefined
  reason: string
  /** Default `latest`. */
  missed?: MissedPolicy | undefined
}

/** Brings the store in line with the agent files: agents retire and return, schedules follow the files. */
export async function applyAgentFiles(
  deps: { store: Store; clock: Clock; readonly timezone: string },
  agents: readonly FileAgent[],
): Promise<{ retired: string[] }> {
  const now = deps.clock.now()
  const names = agents.map(agent => agent.name)
  await deps.store.write(async tx => {
    await holdSchedules(tx, await syncAgents(tx, names, now))
    const known = await schedulesOfFiles(tx)
    for (const agent of agents)
      await applySchedules(tx, { agent, rows: known.get(agent.name) ?? [], deps, now })
  })
  return { retired: await listRetired(deps.store.db) }
}

interface Applied {
  agent: FileAgent
  /** The schedules that the agent's file ever asked for. */
  rows: readonly ScheduleRow[]
  /** The time zone is read only if a schedule has none. */
  deps: { readonly timezone: string }
  now: number
}

async function applySchedules(tx: Tx, { agent, rows, deps, now }: Applied): Promise<void> {
  const known = new Map(rows.map(row => [row.id, row]))
  const wanted = new Set<string>()
  for (const { cron, timezone = deps.timezone, reason, missed = 'latest' } of agent.schedules) {
    const id = scheduleId(agent.name, cron, timezone, reason)
    const row = known.get(id)
    if (wanted.has(id)) continue
    wanted.add(id)
    if (row && row.status !== 'done') {
      if (row.missed !== missed) await changeSchedule(tx, row, { missed })
      continue
    }
    const nextRun = nextOccurrence(cron, timezone, now)
    if (nextRun === undefined) continue
    if (row) {
      await changeSchedule(tx, row, { status: 'active', next_run: nextRun, missed })
      continue
    }
    await createSchedule(tx, {
      id,
      agent: agent.name,
      thread_id: await ensureMainThread(tx, agent.name, now),
      kind: 'cron',
      cron,
      timezone,
      reason,
      next_run: nextRun,
      wake_on_events_json: '[]',
      conversation_id: null,
      status: 'active',
      created_by: 'file',
      created_at: now,
      last_run: null,
      missed,
    })
  }
  for (const [id, row] of known)
    if (!wanted.has(id) && row.status !== 'done') await changeSchedule(tx, row, { status: 'done' })
}

/** Returns the same id for the same line of the same file, however often it is read. */
function scheduleId(agent: string, cron: string, timezone: string, reason: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([cron, timezone, reason]))
    .digest('hex')
  return `sch_${agent}_${hash.slice(0, 12)}`
}
