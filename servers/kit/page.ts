import { z } from 'zod'
import { toCountText } from './text.ts'

/** Returns the arguments of a tool with a long list: spread them into the input. */
export const pageFields = (limit = 20, most = 200) => ({
  limit: z.int().min(1).max(most).default(limit),
  offset: z.int().min(0).default(0),
})

/** Output fields of a page: spread them in. */
export const pageOutput = {
  total: z.int().describe('how many there are in all'),
  offset: z.int().describe('how many were skipped'),
  more: z.boolean().describe('true: call again with a larger offset for more'),
}

export interface Page<Item> {
  items: Item[]
  total: number
  offset: number
  more: boolean
}

/** Returns the requested part of `items`, which is the whole list. */
export function page<Item>(
  items: readonly Item[],
  { offset, limit }: { offset: number; limit: number },
): Page<Item> {
  const part = items.slice(offset, offset + limit)
  return { items: part, total: items.length, offset, more: offset + part.length < items.length }
}

/**
 * Returns the last line of a list that was cut: "10 of 48 films; call again with offset 10 for more." With an
 * offset it also names the position: "11 to 20 of 48 films; …". Undefined if the whole list is shown.
 */
export function toMoreText(part: Page<unknown>, one: string, many?: string): string | undefined {
  const { items, total, offset, more } = part
  if (!more && offset === 0) return undefined
  const end = offset + items.length
  const all = toCountText(total, one, many)
  if (items.length === 0) return `Nothing from offset ${offset} on; there are only ${all}.`
  const shown = offset === 0 ? `${items.length}` : `${offset + 1} to ${end}`
  return `${shown} of ${all}${more ? `; call again with offset ${end} for more.` : '.'}`
}
