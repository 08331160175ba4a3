import { measureCalls } from './hub/calls.ts'
import { measureCatalogue } from './hub/catalogue.ts'

/**
 * Measures a call through the hub beside a direct one and other hubs, and the cost of a catalogue of 1,500
 * tools.
 */
export async function hub(): Promise<Record<string, number>> {
  return { ...(await measureCalls()), ...(await measureCatalogue()) }
}
