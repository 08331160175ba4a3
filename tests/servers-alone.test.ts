import { describe, expect, test } from 'vitest'
import { downloads } from '../servers/downloads/server.ts'
import { games } from '../servers/games/server.ts'
import { createFakeClock } from '../servers/kit/testing/fake-clock.ts'
import { startWorld } from '../servers/kit/testing/server-world.ts'
import { media } from '../servers/media/server.ts'
import { metrics } from '../servers/metrics/server.ts'
import { notifications } from '../servers/notifications/server.ts'

/** The names of tools that only read; every other tool changes something. */
const LOOKS = /^(get|list|search|query|diagnose)_/
/** Tools that start searches, which end in downloads. */
const ACTS = ['search_missing']
/**
 * Tools whose effects cannot be undone, or that interrupt people; other changes can be undone or only add.
 */
const DESTRUCTIVE = [
  'remove_download',
  'restart_container',
  'restart_game_server',
  'run_game_command',
  'stop_game_server',
  'stop_jellyfin_session',
]
/** Destructive tools that first describe what they would do. */
const ASKS_FIRST = DESTRUCTIVE.filter(name => name !== 'run_game_command')

const definitions = { downloads, games, media, metrics, notifications }
const toListed = (name: string) => (ACTS.includes(name) ? false : LOOKS.test(name))

describe.each(Object.entries(definitions))('%s alone', (name, definition) => {
  const open = (environment = {}) =>
    startWorld(definition, { clock: createFakeClock(), watchers: false, environment })

  test('every tool says what it is, and its annotations are true', async () => {
    await using world = await open()
    expect(world.listed().length).toBeGreaterThan(2)
    for (const { name: tool, title, description = '', annotations, ...schemas } of world.listed()) {
      const isReading = toListed(tool)
      expect(title, tool).toMatch(/^[A-Z]/)
      expect(description.length, tool).toBeGreaterThanOrEqual(40)
      expect(schemas, tool).toMatchObject({
        inputSchema: { type: 'object' },
        outputSchema: { type: 'object', properties: expect.any(Object) },
      })
      expect(annotations, tool).toEqual({
        title,
        readOnlyHint: isReading,
        destructiveHint: DESTRUCTIVE.includes(tool),
        idempotentHint: isReading ? true : expect.any(Boolean),
        openWorldHint: expect.any(Boolean),
      })
      const takes = Object.keys(schemas.inputSchema.properties ?? {})
      if (ASKS_FIRST.includes(tool)) expect(takes, tool).toContain('confirm')
      if (isReading) expect(takes, tool).not.toContain('confirm')
    }
  })

  test('a mistyped argument is refused by name, though the schema for models does not forbid it', async () => {
    await using world = await open()
    for (const { name: tool, inputSchema } of world.listed()) {
      const needed = (inputSchema.required ?? []).map(argument => [
        argument,
        argument === 'limitMBps' ? 1 : 'x',
      ])
      const { isError, text } = await world.call(tool, { ...Object.fromEntries(needed), confrim: true })
      expect({ tool, isError, text }).toMatchObject({
        isError: true,
        text: expect.stringContaining('confrim'),
      })
    }
  })

  test('read-only, it has the tools that look and no others', async () => {
    await using all = await open()
    await using world = await open({ [`${name.toUpperCase()}_READ_ONLY`]: 'true' })
    const looking = all.listed().filter(tool => toListed(tool.name))
    expect(world.listed()).toEqual(looking)
    const others = all.listed().filter(tool => !toListed(tool.name))
    expect(others).not.toEqual([])
    for (const { name: tool } of others) await expect(world.call(tool)).rejects.toThrow('no tool')
  })
})
