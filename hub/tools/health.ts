import type { Client } from '@modelcontextprotocol/client'
import { type HealthReport, healthReport } from '../../schemas/health.ts'
import { parseJson } from '../core/json.ts'
import type { Bounds } from './subscriptions.ts'

/** What a server's `health://…` resource says of the programs behind it; undefined where it has none of our form. */
export async function readHealth(client: Client, bounds: Bounds): Promise<HealthReport | undefined> {
  if (!client.getServerCapabilities()?.resources) return undefined
  const { resources } = await client.listResources(undefined, { cacheMode: 'refresh', ...bounds })
  const uri = resources.find(resource => resource.uri.startsWith('health://'))?.uri
  if (uri === undefined) return undefined
  const { contents } = await client.readResource({ uri }, { cacheMode: 'bypass', ...bounds })
  const [first] = contents
  return healthReport.safeParse(parseJson(first && 'text' in first ? first.text : '')).data
}
