import { effect, holdTools, once } from './moments.ts'
import type { Point } from './points.ts'
import type { World } from './world.ts'

const oneTask = ({ rows }: World) => {
  const { length } = rows("select id from threads where kind = 'task'")
  return length === 1 ? [] : [`There are ${length} tasks and not one`]
}

/** Kill points of a task that an agent starts. */
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
