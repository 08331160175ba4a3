import { appendFileSync } from 'node:fs'
import pg from 'pg'
import { expect } from 'vitest'

/*
 * Writes each statement that the hubs of the tests send into a file, with its parameters, for the test of the plans.
 * Tests of the store and of the runtime also send some of their own, over the same connections.
 */

const file = process.env['SUPERBLOOM_TEST_STATEMENTS']
/** Parameters differ in what they find; the plans of a few of them show it. */
const EXAMPLES = 3
const PLANNED = /^\s*(?:select|insert|update|delete|with)\b/i
/** Lists of parameters differ in their length alone. */
const LIST = /\(\$\d+(?:, \$\d+)*\)/g

const OF_HUBS = /[\\/]tests[\\/]e2e[\\/]/

const isStatement = (config: unknown): config is { text: string; values: unknown[] } =>
  typeof config === 'object' && config !== null && 'values' in config && 'text' in config

if (file !== undefined) {
  const times = new Map<string, number>()
  const query = pg.Client.prototype.query
  pg.Client.prototype.query = function recorded(this: pg.Client, ...given: unknown[]) {
    const [config] = given
    if (isStatement(config) && PLANNED.test(config.text) && OF_HUBS.test(expect.getState().testPath ?? '')) {
      const shape = config.text.replaceAll(LIST, '()')
      const known = times.get(shape) ?? 0
      times.set(shape, known + 1)
      if (known < EXAMPLES)
        appendFileSync(file, `${JSON.stringify({ shape, text: config.text, values: config.values })}\n`)
    }
    return Reflect.apply(query, this, given)
  } as typeof query
}
