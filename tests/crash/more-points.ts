import { asked, effect, holdTools, once } from './moments.ts'
import type { Point } from './points.ts'
import type { World } from './world.ts'

const oneTask = ({ rows }: World) => {
  const { length } = rows("select id from threads where kind = 'task'")
  return length === 1 ? [] : [`There are ${length} tasks and not one`]
}

/** What a person has to allow, in the order in which it passes them. */
export const APPROVAL_POINTS: readonly Point[] = [
  {
    name: 'before the commit of a call that waits for a yes',
    says: 'please guard p25',
    when: { at: 'before commit', writing: 'insert into "approvals"' },
    check: once('guard p25'),
  },
  {
    name: 'while a call waits for a yes',
    says: 'please guard p26',
    when: asked,
    check: once('guard p26'),
  },
  {
    name: 'before the commit of a yes',
    says: 'please guard p27',
    when: { at: 'before commit', writing: 'update "approvals".*"approved"' },
    check: once('guard p27'),
  },
  {
    name: 'after the commit of a yes, before the run',
    says: 'please guard p28',
    when: { at: 'after commit', writing: 'update "approvals".*"approved"' },
    check: once('guard p28'),
  },
  {
    name: 'during the run of an approved call',
    says: 'please guard p29',
    prepare: holdTools,
    when: effect,
    check: once('guard p29'),
  },
]

/** What an agent hands to a task. */
export const TASK_POINTS: readonly Point[] = [
  {
    name: 'before the commit of a new task',
    says: 'please task p30',
    when: { at: 'before commit', writing: 'insert into "threads".*please change p30' },
    check: world => [...once('change p30')(world), ...oneTask(world)],
  },
  {
    name: 'after the commit of a new task',
    says: 'please task p31',
    when: { at: 'after commit', writing: 'insert into "threads".*please change p31' },
    check: world => [...once('change p31')(world), ...oneTask(world)],
  },
  {
    name: "during a task's work",
    says: 'please task p32',
    prepare: holdTools,
    when: effect,
    check: world => [...once('change p32')(world), ...oneTask(world)],
  },
  {
    name: "before the commit of a task's end",
    says: 'please task p33',
    when: { at: 'before commit', writing: 'insert into "inbox".*"kind\\\\":\\\\"task' },
    check: world => [...once('change p33')(world), ...oneTask(world)],
  },
  {
    name: "after the commit of a task's end",
    says: 'please task p34',
    when: { at: 'after commit', writing: 'insert into "inbox".*"kind\\\\":\\\\"task' },
    check: world => [...once('change p34')(world), ...oneTask(world)],
  },
]
