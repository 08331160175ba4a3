import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BatchItem } from '../../core/model.ts'
import { decideReply } from './decide-reply.ts'
import { item, LEAN, message, openThread, type Results, TOOLS } from './testing/thread.ts'

describe('the cycle', () => {
  it('answers what comes between its steps as well', () => {
    const thread = openThread()
    thread.post([message('how is this machine doing?')])
    thread.answer(thread.step())
    thread.post([message('are my disks ok')], 'MID-CYCLE UPDATE')
    const second = thread.step()
    expect(second.calls.map(call => call.name)).toEqual(['get_disk_health'])
    thread.answer(second)
    expect(thread.step().text).toMatch(
      /> how is this machine doing\?\n\n.*CPU 12 %[\s\S]*> are my disks ok\n\n.*All disks pass/,
    )
  })

  it('answers another conversation in the step in which the hub asks about it', () => {
    const thread = openThread()
    const first = thread.run(message('are my disks ok', 'garage'), message('how is this machine doing?'))
    expect(first.calls).toEqual([['get_system_metrics', {}]])
    expect(first.text).not.toContain('disk')
    thread.post([item('notice', 'garage', 'are my disks ok')], 'UNANSWERED')
    const asked = thread.step()
    expect(asked.calls.map(call => call.name)).toEqual(['get_disk_health'])
    thread.answer(asked)
    expect(thread.step().text).toBe('`get_disk_health`: All disks pass.')
  })

  it('answers all conversations at once where a call ends the cycle', () => {
    const { calls, text } = openThread().run(
      message('are my disks ok', 'garage'),
      message('remind me in 5 minutes to eat'),
    )
    expect(calls.map(call => (call as string[])[0])).toEqual(['get_disk_health', 'schedule_wake'])
    expect(text).toContain('All disks pass.')
  })

  it('answers by what the hub repeats where compaction took the message', () => {
    const thread = openThread()
    thread.post([item('notice', 'garage', 'are my disks ok')], 'UNANSWERED')
    expect(thread.step().calls.map(call => call.name)).toEqual(['get_disk_health'])
  })

  it('gives calls ids of their own that stay when it is resumed', () => {
    const thread = openThread()
    thread.post([message('are my disks ok'), message('are my disks ok')])
    const first = thread.step()
    expect(new Set(first.calls.map(call => call.id)).size).toBe(2)
    thread.answer(first)
    thread.step()
    thread.post([message('are my disks ok')])
    expect(first.calls.map(call => call.id)).not.toContain(thread.step().calls[0]?.id)
  })

  it('starts anew after a stopped cycle, and words results whose question compaction took', () => {
    const thread = openThread()
    thread.post([message('are my disks ok')])
    thread.answer(thread.step())
    thread.post([message('how is this machine doing?')])
    expect(thread.step().calls.map(call => call.name)).toEqual(['get_system_metrics'])
    const cut = openThread()
    cut.messages.push({
      role: 'assistant',
      text: '',
      calls: [{ id: 'x', name: 'get_disk_health', arguments: '{}' }],
    })
    cut.messages.push({
      role: 'tool',
      callId: 'x',
      name: 'get_disk_health',
      text: 'All disks pass.',
      isError: false,
    })
    expect(cut.step().text).toMatch(/^All disks pass\./)
  })

  it('asks one question at a time', () => {
    const { text } = openThread().run('start valheim', 'stop the game server')
    expect(text).toMatch(/> start valheim\n\nI have to ask something about this; please send it again/)
    expect(text).toMatch(/stop_game_server \{\}`\)$/)
  })
})

describe('whatever the window', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'grapheme' }),
    fc
      .array(
        fc.constantFrom(
          ...'remind me in 5 minutes to every day at stop start valheim game server the disks yes no /call /tools {"a":1} get_processes limit = 3 " : what is cancel reminder remember that not ? files__read_text_file /etc/x set send'.split(
            ' ',
          ),
        ),
        { maxLength: 12 },
      )
      .map(words => words.join(' ')),
  )
  const kind = fc.constantFrom<BatchItem['kind']>(
    'message',
    'message',
    'message',
    'wake',
    'event',
    'agent',
    'notice',
  )
  const items = fc.array(fc.record({ kind, origin: text, text, at: fc.integer() }), { maxLength: 4 })
  const result = fc.record({
    text,
    isError: fc.boolean(),
    structured: fc.option(fc.jsonValue(), { nil: undefined }),
  })

  it('the reply has text or a call, equal requests get equal replies, and the cycle ends', () => {
    fc.assert(
      fc.property(
        fc.array(items, { minLength: 1, maxLength: 3 }),
        result,
        fc.boolean(),
        (batches, given, lean) => {
          const results = new Proxy<Results>({}, { get: () => ({ ...given }) })
          const thread = openThread(lean ? LEAN : TOOLS, results)
          for (const batch of batches) {
            const { text: said } = thread.run(...batch)
            expect(said).not.toBe('')
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it('made of any messages in any order, it is answered', () => {
    const call = fc.record({ id: text, name: text, arguments: text })
    const entry = fc.oneof(
      fc.record({ role: fc.constant('user' as const), text, items }),
      fc.record({ role: fc.constant('assistant' as const), text, calls: fc.array(call, { maxLength: 2 }) }),
      fc.record({
        role: fc.constant('tool' as const),
        callId: text,
        name: text,
        text,
        isError: fc.boolean(),
      }),
    )
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), text, fc.integer(), (messages, timezone, now) => {
        const request = { system: '', messages, tools: TOOLS.slice(0, 20), maxOutput: 100, timezone, now }
        const decision = decideReply(request)
        expect(decision.text !== '' || decision.calls.length > 0).toBe(true)
        expect(decideReply(request)).toEqual(decision)
      }),
      { numRuns: 300 },
    )
  })
})
