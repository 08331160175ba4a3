import type { Clock } from '../core/clock.ts'
import type { ModelConfig, ModelOptions, ModelReply } from '../core/model.ts'
import type { Form, FormEntry, ShapedRequest } from './form/form.ts'

/** One model of the configuration, with every default filled in. */
export interface ModelEntry extends Omit<ModelConfig, 'provider'> {
  /** The name of one of `providers`. */
  provider: string
  context: number
  maxOutput: number
  vision: boolean
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
