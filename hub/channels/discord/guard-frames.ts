import { type Client, SimpleShardingStrategy } from 'discord.js'

/** Takes what the library threw, and the frame or event that it threw at. */
export type OnThrow = (error: unknown, frame: unknown) => void

/** Reads the gateway's frames as the library does, and reports those that it throws at. */
export class GuardedSharding extends SimpleShardingStrategy {
  readonly #onThrow: OnThrow

  constructor(manager: ConstructorParameters<typeof SimpleShardingStrategy>[0], onThrow: OnThrow) {
    super(manager)
    this.#onThrow = onThrow
  }

  override async spawn(ids: number[]): Promise<void> {
    await super.spawn(ids)
    const shards: ReadonlyMap<number, object> = Reflect.get(this, 'shards')
    for (const shard of shards.values()) guard(shard, 'onMessage', this.#onThrow)
  }
}

/** Reports the events that the library throws at, in place of throwing; the other events are handled as ever. */
export function guardEvents(client: Client, onThrow: OnThrow): void {
  guard(client.ws, 'handlePacket', onThrow)
}

/**
 * Replaces a method by one that reports what it throws. The library reads frames in private methods which nothing of
 * it catches: what they throw would end the process.
 */
function guard(target: object, name: string, onThrow: OnThrow): void {
  const method: unknown = Reflect.get(target, name)
  if (typeof method !== 'function') throw new TypeError(`discord.js reads no frames in ${name}`)
  const guarded = async (...args: unknown[]) => {
    try {
      await Reflect.apply(method, target, args)
    } catch (error) {
      onThrow(error, args[0])
    }
  }
  Reflect.set(target, name, guarded)
}
