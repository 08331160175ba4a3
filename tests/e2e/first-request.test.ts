import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { readFirstTools } from '../support/first-hub.ts'
import { openMetaTools } from '../support/meta-tools.ts'

/** Tokens of all tools of the five servers, as the default agent sends them with each request. */
const MOST_TOKENS = 5_500
/** Number of tools below which a server did not start. */
const FEWEST_TOOLS = 43
const LIMIT = 120_000

/** The agent's tools for the catalogue. */
const TO_FIND = ['find_tools', 'call_tool']

test('the tools of all five servers take at most 5,500 tokens of a request', { timeout: LIMIT }, async () => {
  const tools = await readFirstTools()
  const tokens = new Map(tools.map(tool => [tool.function.name, countTokens(JSON.stringify(tool))]))
  await using metaTools = await openMetaTools()
  for (const own of [...metaTools.tools.map(({ name }) => name), ...TO_FIND])
    expect(tokens.delete(own), own).toBe(true)
  const theirs = [...tokens].sort(([, a], [, b]) => b - a)
  expect(theirs.length, 'tools of all five servers').toBeGreaterThanOrEqual(FEWEST_TOOLS)
  const all = theirs.reduce((sum, [, each]) => sum + each, 0)
  expect(all, `the longest: ${theirs.slice(0, 8).join(' ')}`).toBeLessThanOrEqual(MOST_TOKENS)
})
