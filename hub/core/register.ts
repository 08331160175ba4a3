const SMALLEST = 16

/**
 * Stores values under numbers, each of which it gives once. It is for values that come and go thousands of
 * times a second: the tables that a `Map` outgrew keep their contents alive until the next full collection.
 */
export class Register<Value> {
  /** Number in each slot. A number's last bits select its slot; numbers whose slot is taken are skipped. */
  #numbers: number[] = new Array(SMALLEST).fill(0)
  #values: (Value | undefined)[] = new Array(SMALLEST).fill(undefined)
  #last = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Stores the value and returns its number, from 1 on. */
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

  /** Returns false where no value has the number. */
  delete(number: number): boolean {
    if (this.get(number) === undefined) return false
    this.#values[this.#placeOf(number)] = undefined
    this.#size--
    return true
  }

  /** Returns the values in the order of their numbers. */
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
