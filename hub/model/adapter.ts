import type { Clock } from '../core/clock.ts'
import type { ModelOptions, ModelReply, Price } from '../core/model.ts'
import type { Form, ShapedRequest } from './form/form.ts'

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
  /** It takes pictures. */
  vision: boolean
  /** Milliseconds until the answer begins. */
  timeout?: number | undefined
  headers?: Readonly<Record<string, string>> | undefined
  /** Merged into each request. */
  body?: Readonly<Record<string, unknown>> | undefined
}

export interface AskOptions extends ModelOptions {
  /** Parameters of the request that a repair leaves out, by their names on the wire. */
  without: readonly string[]
  /** Names a call whose provider sent no id; positions count from 0. */
  makeId: (position: number) => string
}

/**
 * Asks one provider in its wire format. `ask` makes one attempt: it throws a ModelError (with its `refusal` where the
 * provider refused), or the signal's reason. It owns nothing between calls but idle connections.
 */
export interface Adapter {
  ask(request: ShapedRequest, options: AskOptions): Promise<ModelReply>
}

/** One provider: a file of `providers/` and a line in its list. */
export interface Provider {
  name: string
  /** Hosts of `baseUrl` that mean this provider. */
  hosts: readonly string[]
  /** Where its API is when the configuration names no `baseUrl`. */
  baseUrl?: string
  /** The environment's variable with its key. */
  keyVariable?: string
  /** Parameters that it sends and that some servers do not know, by their names on the wire. */
  optional?: readonly string[]
  /** The name of the temperature on the wire; default `temperature`. */
  temperature?: string
  form(entry: ModelEntry): Form
  /** Loads the provider's package. */
  open(entry: ModelEntry, options: { clock: Clock }): Promise<Adapter>
}
