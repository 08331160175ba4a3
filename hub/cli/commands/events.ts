import { z } from 'zod'
import { HubError } from '../../core/errors.ts'
import { callHub } from '../call-hub.ts'
import { findHub } from '../find-hub.ts'
import { print } from '../print.ts'
import { readLimit } from '../read-limit.ts'

const payload = z.record(z.string(), z.unknown())

/** Prints the events, the newest first, with where each went and why. */
export async function listEvents(filter: { type?: string; status?: string; limit: string }): Promise<void> {
  const args = { ...filter, limit: readLimit(filter.limit) }
  print((await callHub(findHub(), 'hub_list_events', args)).text)
}

/** Publishes an event to the hub. `text` is the payload as JSON. */
export async function publishEvent(type: string, text = '{}', options: { key?: string } = {}): Promise<void> {
  const args = { type, payload: parsePayload(text), ...options }
  print((await callHub(findHub(), 'hub_publish_event', args)).text)
}

function parsePayload(text: string): Record<string, unknown> {
  try {
    return payload.parse(JSON.parse(text))
  } catch (error) {
    throw new HubError(
      'invalid_arguments',
      `The payload must be a JSON object such as '{"host":"nas","percent":95}'; it is ${text}`,
      { cause: error },
    )
  }
}
