import { expect, test } from 'vitest'
import { TILE_SPECS } from '../hub/house/tile-specs.ts'
import { downloads } from '../servers/downloads/server.ts'
import { games } from '../servers/games/server.ts'
import { systemClock } from '../servers/kit/clock.ts'
import { startWorld } from '../servers/kit/testing/server-world.ts'
import { media } from '../servers/media/server.ts'
import { metrics } from '../servers/metrics/server.ts'

const nothing = JSON.stringify({ arena: { process: { command: '/bin/true' } } })
const SERVERS = [
  { definition: metrics, environment: {} },
  { definition: games, environment: { GAMES_SERVERS: nothing, GAMES_DISCOVER: 'false' } },
  { definition: downloads, environment: {} },
  { definition: media, environment: {} },
]

type Schema = { properties?: Record<string, Schema>; items?: Schema }

/** Returns the schema at a path of a result; undefined where there is none. */
function schemaAt(schema: Schema | undefined, path: string): Schema | undefined {
  if (path === '.') return schema
  return path.split('.').reduce<Schema | undefined>((found, key) => found?.properties?.[key], schema)
}

const pathsOf = (...templates: (string | undefined)[]) =>
  templates.flatMap(template => [...(template ?? '').matchAll(/\{([^}:]+)/g)].map(match => match[1] ?? ''))

test('every field that the tiles of the house show is in the result of its tool', async () => {
  const wrong: string[] = []
  let looked = 0
  for (const { definition, environment } of SERVERS) {
    await using started = await startWorld(definition, { clock: systemClock, environment, watchers: false })
    for (const spec of TILE_SPECS.filter(({ server }) => server === definition.name)) {
      const listed = started.listed().find(({ name }) => name === spec.tool)
      expect(listed?.annotations?.readOnlyHint, spec.tool).toBe(true)
      const result = listed?.outputSchema as Schema
      const check = (schema: Schema | undefined, path: string) => {
        looked++
        if (!schemaAt(schema, path)) wrong.push(`${spec.tool}: ${path}`)
      }
      for (const path of pathsOf(spec.title, spec.summary)) check(result, path)
      if (spec.each) check(result, spec.each.list)
      for (const name of Object.keys(spec.arguments ?? {})) check(listed?.inputSchema as Schema, name)
      for (const { list, name, text, bar, tones = [] } of spec.rows) {
        if (list) check(result, list)
        const item = list ? schemaAt(result, list)?.items : result
        const paths = [...pathsOf(name, ...text), ...(bar ? [bar] : []), ...tones.map(({ of }) => of)]
        for (const path of paths) check(item, path)
      }
    }
  }
  expect(wrong).toEqual([])
  expect(looked).toBeGreaterThan(60)
})
