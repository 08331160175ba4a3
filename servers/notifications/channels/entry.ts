import { z } from 'zod'

/** An http or https address without a login. */
export const anyUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .refine(text => new URL(text).username === '', 'must hold no user and password')

/** A program's base address: without a query, and without a slash at its end. */
export const httpUrl = anyUrl
  .refine(text => new URL(text).search === '', 'must have no query')
  .transform(text => text.replace(/\/+$/, ''))

/** Tells whether every percent sign in a part of an address begins an escaped character. */
export function isEscaped(part: string): boolean {
  try {
    return decodeURIComponent(part) !== undefined
  } catch (error) {
    if (error instanceof URIError) return false
    throw error
  }
}

/** The problem's text when `isEscaped` is false. */
export const ESCAPE = 'must write a percent sign as %25'

/** A token or a password. */
export const secret = z.string().trim().min(1)
