import { expect, test } from 'vitest'
import { createChatNames, decideLine } from './chat-line.ts'

const names = {
  agents: ['homelab'],
  conversations: ['homelab', 'homelab/nas'],
  commands: ['ask', 'approvals', 'chat'],
}
const shell = (command: string) => ({
  kind: 'note',
  text: `superbloom ${command} is a command of the shell: /quit leaves the chat.`,
})

test.each([
  ['  ', { kind: 'none' }],
  [' how are the disks? ', { kind: 'send', text: 'how are the disks?' }],
  ['/hlep', { kind: 'send', text: '/hlep' }],
  ['/help', { kind: 'help', text: '/help' }],
  ['help', { kind: 'help', text: 'help' }],
  ['help me', { kind: 'send', text: 'help me' }],
  ['superbloom chta', shell('chat')],
  ['superbloom approvals approve 3', shell('approvals')],
  ['npx superbloom ask homelab hi', shell('ask')],
  ['superbloom is slow', { kind: 'send', text: 'superbloom is slow' }],
  ['aprove 3', { kind: 'note', text: 'Did you mean approve 3?' }],
  ['/dney 3 no', { kind: 'note', text: 'Did you mean deny 3?' }],
  ['start 3 servers', { kind: 'send', text: 'start 3 servers' }],
  ['exit', { kind: 'open', conversation: undefined }],
  ['/quit', { kind: 'open', conversation: undefined }],
  ['/open homelab/nas', { kind: 'open', conversation: 'homelab/nas' }],
  ['/open homelab/new', { kind: 'open', conversation: 'homelab/new' }],
  ['/open homelap', { kind: 'note', text: 'There is no agent for homelap; did you mean homelab?' }],
  ['/open zoe', { kind: 'note', text: 'There is no agent for zoe; agents: homelab' }],
  ['/open', { kind: 'note', text: 'Write /open NAME. There are homelab, homelab/nas.' }],
  ['approve 3', { kind: 'decide', decision: { approval: '3', decision: 'approve' } }],
  ['/approve', { kind: 'note', text: expect.stringContaining('/approve 3') }],
])('%j is %j', (line, action) => {
  expect(decideLine(line, names)).toEqual(action)
})

test('the names follow what the hub tells', () => {
  const known = createChatNames()
  known.add({ number: 3, status: 'open' })
  known.add({ number: 4, status: 'open' })
  known.add({ number: 3, status: 'approved' })
  known.onFrame({
    type: 'conversation',
    conversation: { id: 'homelab/nas', agents: ['homelab'], lastSeq: 1 },
  })
  expect([known.approvals, known.conversations, known.agents]).toEqual([[4], ['homelab/nas'], []])
})
