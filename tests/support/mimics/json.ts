/** A request's body before it is checked. */
export type Json = Record<string, unknown>

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const toObject = (value: unknown): Json => (isObject(value) ? value : {})
export const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const toObjects = (value: unknown): Json[] => toList(value).map(toObject)
export const toText = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Returns an object's keys that are not among the known ones. */
export const unknownKeys = (value: Json, known: readonly string[]): string[] =>
  Object.keys(value).filter(key => !known.includes(key))

/** Returns the members that occur earlier in the list. */
export const repeated = <Member>(list: readonly Member[]): Member[] =>
  list.filter((member, index) => list.indexOf(member) < index)
