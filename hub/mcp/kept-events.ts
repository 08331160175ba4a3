export interface KeptEvent {
  id: string
  text: string
}

/** The latest messages, limited in number and characters, for a client that lost its connection. */
export interface KeptEvents<Event extends KeptEvent> {
  /** The messages in the order in which they came. */
  readonly all: readonly Event[]
  readonly characters: number
  /** Adds a message. The newest stays however long it is: it may be the answer that its client waits for. */
  add(event: Event): void
}

export function createKeptEvents<Event extends KeptEvent>(most: {
  events: number
  characters: number
}): KeptEvents<Event> {
  const all: Event[] = []
  let characters = 0
  return {
    all,
    get characters() {
      return characters
    },
    add(event) {
      all.push(event)
      characters += event.text.length
      while (all.length > most.events || (characters > most.characters && all.length > 1))
        characters -= all.shift()?.text.length ?? 0
    },
  }
}
