/** The resources whose changes clients want to hear of, each for as long as one of them does. */
export class Subscriptions {
  readonly #counts = new Map<string, number>()
  readonly #onChange: (uris: ReadonlySet<string>) => void

  constructor(onChange: (uris: ReadonlySet<string>) => void) {
    this.#onChange = onChange
  }

  has(uri: string): boolean {
    return this.#counts.has(uri)
  }

  /** Adds one client's resources; the returned function removes them again, once. */
  add(uris: readonly string[]): () => void {
    this.#count(uris, 1)
    let isIn = true
    return () => {
      if (isIn) this.#count(uris, -1)
      isIn = false
    }
  }

  #count(uris: readonly string[], by: 1 | -1): void {
    let isChanged = false
    for (const uri of uris) {
      const count = (this.#counts.get(uri) ?? 0) + by
      if (count > 0) this.#counts.set(uri, count)
      else this.#counts.delete(uri)
      isChanged ||= count === 0 || (count === 1 && by === 1)
    }
    if (isChanged) this.#onChange(new Set(this.#counts.keys()))
  }
}
