const SMALLEST = 16

/**
 * Values by the numbers that it gives them, each of which it gives once. For what comes and goes thousands of times a
 * second: tables that a `Map` outgrew keep what was in them alive until the next full collection.
 */
export class Register<Value> {
  /** Each number has its place by its last bits; a place that is taken is passed over. */
  #numbers: number[] = new Array(SMALLEST).fill(0)
  #values: (Value | undefined)[] = new Array(SMALLEST).fill(undefined)
  #last = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The value's number, from 1 on. */
  add(value: Value): number {
    if (++this.#size * 2 > this.#values.length) this.#grow()
    do this.#last++
    while (this.#values[this.#placeOf(this.#last)] !== undefined)
    this.#put(this.#last, value)
    return this.#last
  }

  get(number: number): Value | undefined {
    const place = this.#placeOf(number)
    return this.#numbers[place] === number ? this.#values[place] : undefined
  }

  /** False where there is none. */
  delete(number: number): boolean {
    if (this.get(number) === undefined) return false
    this.#values[this.#placeOf(number)] = undefined
    this.#size--
    return true
  }

  /** The values, in the order of their numbers. */
  values(): Value[] {
    return this.#entries().map(([, value]) => value)
  }

  #entries(): [number: number, value: Value][] {
    const there = this.#values.flatMap((value, place) =>
      value === undefined ? [] : [[this.#numbers[place] ?? 0, value] satisfies [number, Value]],
    )
    return there.sort(([a], [b]) => a - b)
  }

  #grow(): void {
    const entries = this.#entries()
    const length = this.#values.length * 2
    this.#numbers = new Array(length).fill(0)
    this.#values = new Array(length).fill(undefined)
    for (const [number, value] of entries) this.#put(number, value)
  }

  #put(number: number, value: Value): void {
    const place = this.#placeOf(number)
    this.#numbers[place] = number
    this.#values[place] = value
  }

  #placeOf(number: number): number {
    return number & (this.#values.length - 1)
  }
}
