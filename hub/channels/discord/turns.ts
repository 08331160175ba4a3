interface Written {
  id: string
  channelId: string
}

export interface TurnsOptions<Message extends Written> {
  /** Tells whether a message comes before those that wait. */
  isFirst: (message: Message) => boolean
  handle: (message: Message) => Promise<void>
  /** Is called with the newest message of a channel up to which all were handled. */
  onDone: (channel: string, id: string) => Promise<void>
  onError: (message: Message, error: unknown) => void
}

/** The messages of a channel that wait, and the newest of those that were handled. */
interface Turn<Message> {
  waiting: Message[]
  newest: string
  running: Promise<void>
}

/** Handles messages one after the other in each channel, in their order but for those that come first. */
export function createTurns<Message extends Written>(options: TurnsOptions<Message>) {
  const { isFirst, handle, onDone, onError } = options
  const turns = new Map<string, Turn<Message>>()
  const run = async (channel: string, turn: Turn<Message>) => {
    const { waiting } = turn
    while (waiting.length > 0) {
      const first = waiting.findIndex(isFirst)
      const [message] = waiting.splice(Math.max(first, 0), 1)
      if (!message) break
      try {
        await handle(message)
        if (isNewer(message.id, turn.newest)) turn.newest = message.id
        // A message that waits is read again after a crash: the ones after it were posted, and are so once.
        if (!waiting.some(({ id }) => isNewer(turn.newest, id))) await onDone(channel, turn.newest)
      } catch (error) {
        onError(message, error)
      }
    }
    turns.delete(channel)
  }
  return {
    take(message: Message) {
      const known = turns.get(message.channelId)
      if (known) return void known.waiting.push(message)
      const turn = { waiting: [message], newest: '0', running: Promise.resolve() }
      turns.set(message.channelId, turn)
      turn.running = Promise.resolve().then(() => run(message.channelId, turn))
    },
    done: () => Promise.all([...turns.values()].map(({ running }) => running)),
  }
}

/** Compares ids, which grow with time. */
export function isNewer(id: string, than: string | undefined): boolean {
  return than === undefined || BigInt(id) > BigInt(than)
}
