import { expect, test } from 'vitest'
import type { Approval, ChatMessage } from '../../../schemas/chat.ts'
import { clientPrompt } from '../../../schemas/client-prompt.ts'
import { createFakeClock } from '../../../tests/support/fake-clock.ts'
import { createLog } from '../../core/log.ts'
import { createSignals } from '../../core/signals.ts'
import { createHubPrompts, type PromptingAgent } from './hub-prompts.ts'
import { watchHubResources } from './watch-hub-resources.ts'

const PROMPT = clientPrompt.parse({ text: 'Hello' })

function openWatch(updated?: (uri: string) => void) {
  const clock = createFakeClock()
  const signals = createSignals(error => expect.fail(String(error)))
  const told: string[] = []
  const logged: string[] = []
  const agents: (PromptingAgent & { conversations: string[] })[] = [
    { name: 'homelab', description: '', conversations: ['homelab'] },
    { name: 'zoe', description: '', conversations: ['zoe'] },
  ]
  const watch = watchHubResources(
    {
      signals,
      clock,
      log: createLog({ level: 'debug', now: () => 0, write: line => logged.push(JSON.parse(line).event) }),
      agents: () => agents,
      prompts: createHubPrompts(() => agents),
    },
    {
      updated: uri => {
        told.push(uri)
        updated?.(uri)
      },
      listChanged: () => told.push('list'),
      promptsChanged: () => told.push('prompts'),
    },
  )
  return {
    clock,
    signals,
    agents,
    logged,
    watch,
    say: (conversation: string) => signals.emit('message', { conversation } as ChatMessage),
    /** Returns what was told since the last call, and all that is still to come. */
    take() {
      clock.advance(1_000)
      return told.splice(0)
    },
    told,
  }
}

test.for<[string, (signals: ReturnType<typeof openWatch>['signals']) => void, string[]]>([
  [
    'a status',
    signals => signals.emit('agent', { name: 'homelab', status: 'active' }),
    ['hub://agents/homelab'],
  ],
  ['a schedule', signals => signals.emit('schedules', { agent: 'zoe' }), ['hub://agents/zoe']],
  ['an approval', signals => signals.emit('approval', { agent: 'zoe' } as Approval), ['hub://agents/zoe']],
  ['its inbox', signals => signals.emit('posted', { thread: 'thr_zoe' }), ['hub://agents/zoe']],
  ['its window', signals => signals.emit('stepCommitted', { thread: 'thr_zoe' }), ['hub://agents/zoe']],
  ['a task of it', signals => signals.emit('stepCommitted', { thread: 'thr_zoe.abc' }), ['hub://agents/zoe']],
  ['its rest', signals => signals.emit('idle', { thread: 'thr_zoe' }), ['hub://agents/zoe']],
  [
    'the end of a cycle',
    signals => signals.emit('cycleEnded', { cycle: 'c', thread: 'thr_zoe' }),
    ['hub://agents/zoe'],
  ],
  [
    'that agents were let go',
    signals => signals.emit('released', { by: 'alex' }),
    ['hub://agents/homelab', 'hub://agents/zoe'],
  ],
  ['an event', signals => signals.emit('event', { id: 'evt_1' }), ['events://hub']],
  [
    'that a conversation was deleted',
    signals => signals.emit('forgotten', { conversation: 'zoe/x' }),
    ['hub://conversations/zoe/x', 'list', 'hub://agents/homelab', 'hub://agents/zoe'],
  ],
  ['nothing of a delta', signals => signals.emit('delta', { conversation: 'zoe', cycle: 'c', text: '' }), []],
])('it tells of %s', ([, emit, expected]) => {
  const world = openWatch()
  emit(world.signals)
  expect(world.take()).toEqual(expected)
})

test('a message is told at once, and the list only where its conversation may be new in it', () => {
  const world = openWatch()
  world.say('zoe/x')
  expect(world.told).toEqual(['hub://conversations/zoe/x'])
  expect(world.take()).toEqual(['hub://conversations/zoe/x', 'list'])
  world.say('zoe/x')
  expect(world.take()).toEqual(['hub://conversations/zoe/x'])
  for (let count = 0; count < 50; count++) world.say(`zoe/other${count}`)
  expect(world.take()).toContain('list')
  world.say('zoe/x')
  expect(world.take()).toEqual(['hub://conversations/zoe/x', 'list'])
})

test('a burst is told at its beginning and after its end, with one timer, and none is left after it', () => {
  const world = openWatch()
  for (let count = 0; count < 1_000; count++) {
    world.signals.emit('event', { id: `evt_${count}` })
    world.signals.emit('stepCommitted', { thread: 'thr_zoe' })
  }
  expect([world.told, world.clock.timers]).toEqual([['events://hub'], 1])
  world.clock.advance(100)
  expect(world.told).toEqual(['events://hub', 'hub://agents/zoe', 'events://hub'])
  world.signals.emit('event', { id: 'last' })
  expect(world.take().slice(3)).toEqual(['events://hub'])
  expect(world.clock.timers).toBe(0)
})

test('agents that come, change and go change the list; a prompt changes the prompts', () => {
  const world = openWatch()
  const reload = () => {
    world.signals.emit('agents', { names: world.agents.map(({ name }) => name) })
    return world.take()
  }
  const both = ['hub://agents/homelab', 'hub://agents/zoe']
  expect(reload()).toEqual(both)
  world.agents.push({ name: 'new', description: '', conversations: ['new'] })
  const added = reload()
  expect(new Set(added)).toEqual(new Set([...both, 'hub://agents/new', 'list']))
  world.agents.pop()
  expect(reload()).toContain('hub://agents/new')
  world.agents[0] = { name: 'homelab', description: 'changed', conversations: ['homelab'] }
  expect(reload()).toContain('list')
  world.agents[1] = { name: 'zoe', description: '', conversations: ['zoe'], clientPrompt: PROMPT }
  const changed = reload()
  expect([changed.includes('prompts'), changed.includes('list')]).toEqual([true, false])
  expect(reload()).not.toContain('prompts')
})

test('a listener that throws keeps nobody from hearing the rest', () => {
  const world = openWatch(() => {
    throw new Error('broken')
  })
  world.signals.emit('event', { id: 'a' })
  world.signals.emit('schedules', { agent: 'zoe' })
  expect(world.take()).toEqual(['events://hub', 'hub://agents/zoe'])
  expect(world.logged).toEqual(['news_not_told', 'news_not_told'])
})

test('after its end nothing is told, and no timer is left', () => {
  const world = openWatch()
  world.say('zoe')
  world.say('zoe/x')
  world.watch[Symbol.dispose]()
  world.say('zoe/y')
  expect(world.clock.timers).toBe(0)
  expect(world.take()).toEqual(['hub://conversations/zoe'])
})
