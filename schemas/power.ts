import { z } from 'zod'

/**
 * Powers of what agents do, from the highest to the lowest, by whose word began it: a person of the house, the
 * house's own routine, a guest, or anybody outside.
 */
export const POWERS = ['person', 'routine', 'guest', 'foreign'] as const

export const power = z.enum(POWERS)
export type Power = z.infer<typeof power>

/** Returns the lower of two powers. */
export function lowest(one: Power, other: Power): Power {
  return POWERS.indexOf(one) > POWERS.indexOf(other) ? one : other
}

/** Tells whether a power is at least as high as another. */
export function isAtLeast(one: Power, other: Power): boolean {
  return POWERS.indexOf(one) <= POWERS.indexOf(other)
}

/** Returns the mark that words of guests and strangers carry; nothing for those of the house. */
export function markOf(power: Power): { power?: Power } {
  return isAtLeast(power, 'routine') ? {} : { power }
}

/**
 * Effects of a tool, from the least dangerous: it only looks, changes something, reaches people or places outside,
 * or may do harm that cannot be undone.
 */
export const TOOL_CLASSES = ['look', 'change', 'send', 'destroy'] as const
export type ToolClass = (typeof TOOL_CLASSES)[number]

/** Returns the more dangerous of two classes. */
export function strictest(one: ToolClass, other: ToolClass): ToolClass {
  return TOOL_CLASSES.indexOf(one) > TOOL_CLASSES.indexOf(other) ? one : other
}

/** A tool as the policy knows it. */
export interface ToolFacts {
  name: string
  /** Class that the server declares. */
  declared: ToolClass
  /** Whether the server is the operator's own, or anybody's. */
  trust: 'own' | 'third'
  /** Whether a tool that sends reaches the operator's own channels alone. */
  isOwnChannel: boolean
  /** Why every call needs a person's yes: its server made it more dangerous, and nobody accepted that. */
  risen?: string | undefined
}

/** Key in the `_meta` of a built-in server's result: it shows text that comes from outside. */
export const UNTRUSTED = 'superbloom/untrusted'

/** Key in the `_meta` of a tool of the operator's own server: it reaches the operator's own channels alone. */
export const OWN_CHANNELS = 'superbloom/ownChannels'

/** Key in the `_meta` of an agent's call: the power of the work that it is part of. */
export const CALL_POWER = 'superbloom/power'
