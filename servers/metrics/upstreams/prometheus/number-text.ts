const STEPS = ['', ' k', ' M', ' G', ' T', ' P', ' E'] as const
const DIGITS = 4

/** Returns a number as a person reads it: "0.25", "9.5", "12.35 k", "1.2e-7", "not a number", "infinite". */
export function toNumberText(value: number): string {
  if (Number.isNaN(value)) return 'not a number'
  if (!Number.isFinite(value)) return value > 0 ? 'infinite' : 'minus infinite'
  const size = Math.abs(Number(value.toPrecision(DIGITS)))
  if (size !== 0 && size < 0.001) return shorten(value.toExponential(DIGITS - 2))
  if (size < 10_000) return shorten(value.toPrecision(DIGITS))
  const step = Math.floor(Math.log10(size) / 3)
  const name = STEPS[step]
  if (name === undefined) return shorten(value.toExponential(DIGITS - 2))
  return `${shorten((value / 1000 ** step).toPrecision(DIGITS))}${name}`
}

/** Removes zeros at the end: JavaScript's own shortest form. */
function shorten(text: string): string {
  return String(Number(text))
}
