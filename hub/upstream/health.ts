import type { ReadResourceResult } from '@modelcontextprotocol/client'
import { type HealthReport, healthReport } from '../../schemas/health.ts'
import { parseJson } from '../core/json.ts'
import type { Offer } from './offer.ts'

/** Reads a server's `health://…` resource on the programs behind it; undefined if not of the hub's form. */
export async function readHealth(
  { resources }: Offer,
  read: (uri: string) => Promise<ReadResourceResult>,
): Promise<HealthReport | undefined> {
  const uri = resources.find(resource => resource.uri.startsWith('health://'))?.uri
  if (uri === undefined) return undefined
  const { contents } = await read(uri)
  const [first] = contents
  return healthReport.safeParse(parseJson(first && 'text' in first ? first.text : '')).data
}
