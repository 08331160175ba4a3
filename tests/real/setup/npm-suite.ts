import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { untilNoChildren } from '../../support/processes.ts'
import { type Measured, measure, openNpmWorld } from './npm-measure.ts'
import { installServers, type NpmServer } from './npm-servers.ts'

const INSTALL_MS = 300_000

/** Tests what holds for every third-party server in one hub with all of these. */
export function testNpmServers(servers: readonly NpmServer[], title: string): void {
  let world: Awaited<ReturnType<typeof openNpmWorld>>
  let rows: Measured[] = []

  beforeAll(async () => {
    const programOf = installServers(servers, title)
    world = await openNpmWorld()
    rows = await measure(servers, programOf, world)
  }, INSTALL_MS)
  afterAll(async () => {
    await world[Symbol.asyncDispose]()
    await untilNoChildren()
  })

  describe.each(servers)('$package', server => {
    const row = () => {
      const found = rows.find(one => one.server === server)
      if (!found) throw new Error(`${server.name} was not measured`)
      return found
    }

    test('every tool arrives as the server lists it', () => {
      expect(row().tools).toBeGreaterThan(0)
      expect(row().lost).toEqual([])
    })

    test('a call arrives, and its answer comes back', () => {
      expect(row().answer).toContain(server.call.says)
      expect(row().failed).toBe(server.call.fails === true)
    })

    test('its process is in the sandbox, where the hub has no data', () => {
      expect(row().seen.length).toBeGreaterThan(0)
      expect(row().seen.flat()).toEqual([])
    })

    test('killed, it is back by itself and answers, and nothing of before is left', () => {
      expect(row().answerAfter).toContain(server.call.says)
      expect(row().left).toEqual([])
    })
  })

  test('a name that two want is the first one’s, and the other has its server in front', () => {
    const renamed = Object.fromEntries(rows.map(({ server, renamed }) => [server.name, renamed]))
    const expected = servers.map(({ name }) => [name, name === 'hello' ? ['hello__echo'] : []])
    expect(renamed).toEqual(Object.fromEntries(expected))
  })
}
