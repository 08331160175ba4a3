/** Returns the JSON value with each of its texts replaced. Keys stay as they are. */
export function mapTexts(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value)
  if (Array.isArray(value)) return value.map(part => mapTexts(part, replace))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, mapTexts(part, replace)]))
}
