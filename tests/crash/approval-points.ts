import { asked, effect, holdTools, once } from './moments.ts'
import type { Point } from './points.ts'

/** Kill points of a call that needs an approval, in the order in which it passes them. */
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
