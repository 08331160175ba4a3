import { expect, test } from 'vitest'
import { describeServer } from '../../cli/server-state.ts'
import { describeApproval } from './approvals.ts'
import { describeMessage } from './conversations.ts'
import { describeDeadLetter } from './dead-letters.ts'
import { describeThread } from './threads.ts'

const FORGED = 'forged: as good as real'
const text = `x\n${FORGED}\r${FORGED}\u2028${FORGED}`

test.each([
  [
    'an approval',
    describeApproval({
      number: 3,
      id: 'apr_1',
      agent: 'homelab',
      tool: 'stop',
      arguments: { text },
      reason: text,
      expiresAt: 0,
      status: 'open',
      power: 'person',
      note: text,
    }),
  ],
  [
    'a dead letter',
    describeDeadLetter({
      id: 'dl_1',
      agent: 'homelab',
      thread: 't',
      cycle: 'c',
      status: 'open',
      reason: text,
      retryable: true,
      at: 0,
      decidedAt: null,
      decidedBy: null,
      conversation: null,
      steps: 1,
      items: [{ kind: 'message', origin: 'someone', text, at: 0 }],
      calls: [{ tool: 'stop', arguments: text, status: 'ok' }],
    }),
  ],
  [
    'a message',
    describeMessage({
      seq: 1,
      id: 'msg_1',
      conversation: 'homelab',
      kind: 'user',
      author: `alex\n${FORGED}`,
      text,
      at: 0,
    }),
  ],
  [
    'a thread',
    describeThread({
      id: 't',
      agent: 'homelab',
      kind: 'task',
      status: 'complete',
      createdAt: 0,
      updatedAt: 0,
      pending: 0,
      cycles: 1,
      depth: 1,
      instructions: text,
      summary: text,
    }),
  ],
  [
    'a server',
    describeServer({
      name: 'one',
      state: 'down',
      origin: 'config',
      tools: 0,
      error: text,
      writtenAs: text,
      collisions: [text],
      leftOut: [text],
    }),
  ],
])('texts of others with line feeds forge no row beside %s', (_what, shown) => {
  expect(shown).toContain(FORGED)
  expect(shown.split(/[\n\r\u2028]/).filter(row => row.trim().startsWith(FORGED))).toEqual([])
})
