import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { untilNoChildren } from '../../support/processes.ts'
import { labelOf } from './clients.ts'
import { PROBES } from './features.ts'
import type { ClientDriver } from './open-client.ts'
import { openSurvey, type Survey } from './survey.ts'
import { documentedRows, explain, identify, toCells } from './table.ts'

const LIMIT = { timeout: 300_000 }
const ASKING = ['sampling', 'elicitation']

/** Measures these clients, and compares the results with docs/clients.md. */
export function describeClients(clients: readonly ClientDriver[]): void {
  describe('against one hub', () => {
    let survey: Survey
    beforeAll(async () => {
      survey = await openSurvey()
    })
    afterAll(async () => {
      await survey[Symbol.asyncDispose]()
      await untilNoChildren()
    })

    const check = async ({ client }: { client: ClientDriver }) => {
      const row = await survey.measure(client)
      expect(explain(row)).toEqual([])
      expect(row.era).toMatch(/^\d{4}-\d{2}-\d{2}$/)
      // Some clients choose the era by the speed of the first answer.
      expect(withoutEra(toCells(row))).toEqual(withoutEra(documentedCells(client)))
    }
    const named = clients.map(client => ({ name: labelOf(client), client }))
    // A server of the older era does not say which call its request belongs to, so no other client may call
    // meanwhile.
    test.each(named.filter(({ client }) => isAsked(client)))('$name', LIMIT, check)
    test.concurrent.each(named.filter(({ client }) => !isAsked(client)))('$name', LIMIT, check)
  })
}

function documentedCells(client: ClientDriver): string[] {
  return documentedRows().find(cells => cells.slice(0, 3).join() === identify(client).join()) ?? []
}

function isAsked(client: ClientDriver): boolean {
  const features = documentedCells(client).slice(4)
  return ASKING.some(feature => features[Object.keys(PROBES).indexOf(feature)] === 'yes')
}

function withoutEra(cells: readonly string[]): string[] {
  return cells.toSpliced(3, 1)
}
