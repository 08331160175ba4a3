import { z } from 'zod'

/** An http or https address without a login in it. */
export const anyUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .refine(text => new URL(text).username === '', 'must hold no user and password')

/** The address of a program: without a query, and without a slash at its end. */
export const httpUrl = anyUrl
  .refine(text => new URL(text).search === '', 'must have no query')
  .transform(text => text.replace(/\/+$/, ''))

/** True where every percent sign of a part of an address begins an escaped letter. */
export function isEscaped(part: string): boolean {
  try {
    return decodeURIComponent(part) !== undefined
  } catch (error) {
    if (error instanceof URIError) return false
    throw error
  }
}

/** What to say where it does not. */
export const ESCAPE = 'must write a percent sign as %25'

/** A token or a password. */
export const secret = z.string().trim().min(1)
