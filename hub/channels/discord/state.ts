import { z } from 'zod'
import { readStates, removeState, saveState } from '../../store/hub-state.ts'
import type { Store } from '../../store/open.ts'

const PREFIX = 'discord '

const kinds = {
  /** The seq up to which a conversation's messages were sent, and how many parts of the next one were. */
  sent: z.object({ seq: z.int(), part: z.int() }),
  /** The id of a channel's newest message that was handled. */
  seen: z.string(),
  /** The message with the buttons of an open approval. */
  asked: z.object({ channel: z.string(), message: z.string() }),
}
type Kinds = { [Kind in keyof typeof kinds]: z.infer<(typeof kinds)[Kind]> }

/** The record of what the hub did on Discord; a change is on the disk when its promise resolves. */
export class DiscordState {
  readonly #store: Store
  readonly #values: Map<string, unknown>

  private constructor(store: Store, values: Map<string, unknown>) {
    this.#store = store
    this.#values = values
  }

  static async open(store: Store): Promise<DiscordState> {
    return new DiscordState(store, await readStates(store.db, PREFIX))
  }

  get<Kind extends keyof Kinds>(kind: Kind, id: string): Kinds[Kind] | undefined {
    return kinds[kind].optional().parse(this.#values.get(`${kind} ${id}`)) as Kinds[Kind] | undefined
  }

  ids(kind: keyof Kinds): string[] {
    const names = [...this.#values.keys()].filter(key => key.startsWith(`${kind} `))
    return names.map(key => key.slice(kind.length + 1))
  }

  async set<Kind extends keyof Kinds>(kind: Kind, id: string, value: Kinds[Kind]): Promise<void> {
    await this.#store.write(tx => saveState(tx, `${PREFIX}${kind} ${id}`, value))
    this.#values.set(`${kind} ${id}`, value)
  }

  async remove(kind: keyof Kinds, id: string): Promise<void> {
    await this.#store.write(tx => removeState(tx, `${PREFIX}${kind} ${id}`))
    this.#values.delete(`${kind} ${id}`)
  }
}
