/** What a request says, before anything about it is known. */
export type Json = Record<string, unknown>

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const toObject = (value: unknown): Json => (isObject(value) ? value : {})
export const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const toObjects = (value: unknown): Json[] => toList(value).map(toObject)
export const toText = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The keys of an object that are not among those that are known. */
export const unknownKeys = (value: Json, known: readonly string[]): string[] =>
  Object.keys(value).filter(key => !known.includes(key))

/** The members that stand in the list before. */
export const repeated = <Member>(list: readonly Member[]): Member[] =>
  list.filter((member, index) => list.indexOf(member) < index)
