import { z } from 'zod'
import { house, type Tile } from '../../../schemas/house.ts'
import { toLine } from '../../core/text.ts'
import { defineHubTool } from './hub-tool.ts'

export const readHouse = defineHubTool({
  name: 'hub_read_house',
  title: 'The house at a glance',
  description:
    'Tiles of what the servers measure now (machines, containers, downloads, games, media, alerts), of the tools that the config names, and of what agents show.',
  input: z.strictObject({}),
  output: house,
  effect: 'reads',
  right: 'records',
  run: (_asked, { deps }) => deps.house(),
  toText: ({ tiles }) => tiles.flatMap(describeTile).join('\n') || 'Nothing is configured that has a tile.',
})

function describeTile({ title, state, reason, summary, rows, text }: Tile): string[] {
  const head = [title, summary, state === 'ok' ? undefined : (reason ?? state)].filter(Boolean).join(': ')
  return [
    toLine(head),
    ...rows.map(row => toLine(`  ${row.name}: ${row.text}${row.tone === 'bad' ? ' (!)' : ''}`)),
    ...(text === undefined ? [] : [toLine(`  ${text}`)]),
  ]
}
