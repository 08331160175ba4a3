import { measureCalls } from './hub/calls.ts'
import { measureCatalogue } from './hub/catalogue.ts'

/** A call through the hub beside the direct one and through other hubs, and what a catalogue of 1,500 tools costs. */
export async function hub(): Promise<Record<string, number>> {
  return { ...(await measureCalls()), ...(await measureCatalogue()) }
}
