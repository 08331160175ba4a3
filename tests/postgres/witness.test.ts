import { expect, test } from 'vitest'
import { findOverlaps, type Testimony } from './witness.ts'

/** Two hubs, one after the other. */
const RIGHT: Testimony = {
  leads: [
    { life: 'a', epoch: 1 },
    { life: 'b', epoch: 2 },
  ],
  writes: [
    { life: 'a', epoch: 1, thread: 't', fence: 1 },
    { life: 'b', epoch: 2, thread: 't', fence: 2 },
  ],
  work: [
    { by: 'b', at: 2 },
    { by: 'a', at: 1 },
  ],
}
const late = { life: 'a', epoch: 2, thread: 't', fence: 3 }

test.each<[string, Partial<Testimony>, RegExp | undefined]>([
  ['one after the other', {}, undefined],
  [
    'a lead without a higher number',
    { leads: [...RIGHT.leads, { life: 'c', epoch: 2 }] },
    /number of the lead/,
  ],
  ['a write under a lead of another', { writes: [...RIGHT.writes, late] }, /hub a wrote under lead 2/],
  ['a fence of two hubs', { writes: [...RIGHT.writes, { ...late, fence: 2 }] }, /a wrote with the fence 2/],
  [
    'a lower fence',
    { writes: [...RIGHT.writes, { ...late, life: 'b', fence: 1 }] },
    /fence of t went from 2 to 1/,
  ],
  [
    'work of a hub after that of the next',
    { work: [...RIGHT.work, { by: 'a', at: 3 }] },
    /programs outside went/,
  ],
])('the witness of two hubs at a time finds: %s', (_what, change, found) => {
  const signs = findOverlaps({ ...RIGHT, ...change }).join('\n')
  if (found) expect(signs).toMatch(found)
  else expect(signs).toBe('')
})
