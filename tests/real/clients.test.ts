import { expect, test } from 'vitest'
import { clients } from './clients/clients.ts'
import { PROBES } from './clients/features.ts'
import { official } from './clients/official.ts'
import { describeClients } from './clients/suite.ts'
import { documentedRows, identify } from './clients/table.ts'

describeClients(clients.filter(({ isHeavy }) => !isHeavy))

test('nothing is lost for the official clients, but lean mode over stdio', () => {
  for (const client of official) {
    const documented = documentedRows().find(cells => cells.slice(0, 3).join() === identify(client).join())
    const cells = Object.keys(PROBES).flatMap((name, index) =>
      documented?.[index + 4] === 'yes' ? [] : [name],
    )
    // mcp-remote loses progress notifications now and then.
    const lost = client.name === 'mcp-remote' ? 'progress' : client.over === 'stdio' ? 'lean mode' : undefined
    expect(cells, client.name).toEqual(lost ? [lost] : [])
  }
})
