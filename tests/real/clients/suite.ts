import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { untilNoChildren } from '../../support/processes.ts'
import { labelOf } from './clients.ts'
import type { ClientDriver } from './open-client.ts'
import { openSurvey, type Survey } from './survey.ts'
import { documentedRows, explain, identify, toCells } from './table.ts'

/** Measures these clients, and holds docs/clients.md to what comes of it. */
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

    test.concurrent.each(clients.map(client => ({ name: labelOf(client), client })))(
      '$name',
      { timeout: 300_000 },
      async ({ client }) => {
        const row = await survey.measure(client)
        expect(explain(row)).toEqual([])
        const documented = documentedRows().find(
          cells => cells.slice(0, 3).join() === identify(client).join(),
        )
        expect(row.era).toMatch(/^\d{4}-\d{2}-\d{2}$/)
        // Some settle on the era by how fast the first answer comes.
        expect(withoutEra(toCells(row))).toEqual(withoutEra(documented ?? []))
      },
    )
  })
}

function withoutEra(cells: readonly string[]): string[] {
  return cells.toSpliced(3, 1)
}
