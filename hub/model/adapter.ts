import type { Clock } from '../core/clock.ts'
import type { ModelOptions, ModelReply, Price } from '../core/model.ts'
import type { Form, FormEntry, ShapedRequest } from './form/form.ts'

/** One model of the configuration, with every default filled in. */
export interface ModelEntry {
  /** The name of one of `providers`. */
  provider: string
  baseUrl: string
  apiKey?: string | undefined
  model: string
  /** Tokens that request and reply may have together. */
  context: number
  maxOutput: number
  price?: Price | undefined
  reasoning?: 'none' | 'low' | 'medium' | 'high' | undefined
  temperature?: number | undefined
  /** True where the model takes pictures. */
  vision: boolean
  /** Milliseconds until the reply has to begin. */
  timeout?: number | undefined
  headers?: Readonly<Record<string, string>> | undefined
  /** Fields that are merged into the body of each request. */
  body?: Readonly<Record<string, unknown>> | undefined
}

export interface AskOptions extends ModelOptions {
  /** Parameters that a repair leaves out of the request, by their names on the wire. */
  without: readonly string[]
  /** Names a call whose provider sent no id; positions count from 0. */
  makeId: (position: number) => string
}

/**
 * Asks one provider once, in its wire format: throws a ModelError (with its `refusal` where the provider
 * refused), or the signal's reason. An adapter owns nothing between calls but idle connections.
 */
export type Adapter = (request: ShapedRequest, options: AskOptions) => Promise<ModelReply>

/** A provider has one file in `providers/` and one line in its index. */
export interface Provider {
  /** Parameters that the adapter sends and some servers do not know, by their names on the wire. */
  optional?: readonly string[]
  /** Name of the temperature on the wire; default `temperature`. */
  temperature?: string
  form(entry: FormEntry): Form
  /** Loads the provider's package. */
  open(entry: ModelEntry, clock: Clock): Promise<Adapter>
}
