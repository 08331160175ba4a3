import { type Environment, readSettings } from './env.ts'
import { ToolFailure } from './failure.ts'
import { choiceSetting, switchSetting } from './settings.ts'
import type { Tool } from './tool.ts'

export const ACCESS_LEVELS = ['read', 'change', 'full'] as const
/**
 * Limit on what tools may do with an upstream: only read, also change things, or also delete and stop them.
 */
export type Access = (typeof ACCESS_LEVELS)[number]

/** The setting `ACCESS` of an instance; default full. */
export const accessSetting = () =>
  choiceSetting({
    purpose:
      'what tools may do there: only look (read), also change things (change), also delete and stop (full)',
    choices: ACCESS_LEVELS,
    default: 'full',
  })

/** Tells whether the server's `GAMES_READ_ONLY` (of the server games) is true. Throws SettingsError. */
export function readReadOnly(server: string, environment: Environment): boolean {
  const name = `${server.toUpperCase()}_READ_ONLY`
  const setting = switchSetting({ purpose: 'that only tools which change nothing are offered' })
  return readSettings({ [name]: setting }, environment)[name] === true
}

/** Returns the tools that a server offers: all, or only those that change nothing if it is read-only. */
export function toOffered(tools: readonly Tool[], readOnly: boolean): Tool[] {
  return tools.filter(tool => !readOnly || tool.listed.annotations?.readOnlyHint === true)
}

/** An instance whose settings limit what may be done with it. */
export interface Limited {
  readonly title: string
  readonly settings: { readonly ACCESS: Access }
  readonly variables: { readonly ACCESS: string }
}

/** Throws a ToolFailure that names the setting if the instance's access is lower than `needed`. */
export function requireAccess(instance: Limited, needed: Access): void {
  const allowed = instance.settings.ACCESS
  if (ACCESS_LEVELS.indexOf(allowed) >= ACCESS_LEVELS.indexOf(needed)) return
  const variable = instance.variables.ACCESS
  throw new ToolFailure({
    what: `Nothing was done: ${instance.title} may not be ${needed === 'full' ? 'deleted from or stopped' : 'changed'} by tools.`,
    where: variable,
    why: `${variable} is "${allowed}", and this needs "${needed}"`,
    fix: `Leave it, or ask the owner to set ${variable} to "${needed}".`,
  })
}
