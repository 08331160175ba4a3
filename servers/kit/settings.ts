import { z } from 'zod'
import type { Setting } from './env.ts'

/** The description of every setting: what it sets, and where a person finds the value. */
export interface About {
  purpose: string
  where?: string | undefined
}

/** Returns the setting as a required one: its value is never undefined. */
export function required<Value>(setting: Setting<Value>): Setting<Exclude<Value, undefined>> {
  return { ...setting, required: true } as Setting<Exclude<Value, undefined>>
}

/**
 * Returns a setting of an http or https URL without user info, query and trailing slash; its path is kept.
 * "nas:7878" means http.
 */
export function urlSetting(about: About): Setting<string | undefined> {
  const schema = z.string().transform((text, context) => {
    const full = /^(https?:|[a-z][a-z0-9+.-]*:\/\/)/i.test(text) ? text : `http://${text}`
    const url = URL.canParse(full) ? new URL(full) : undefined
    const fits = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
    if (fits && url.search === '' && url.hash === '')
      return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
    context.addIssue({ code: 'custom', message: 'no such URL' })
    return z.NEVER
  })
  const form =
    'an address such as "http://nas:7878", "nas:7878" or "https://nas/radarr", without a query and without user:password@ in it (a password has a variable of its own)'
  // The value of a wrong URL may hold a password, so it is not shown.
  return { ...about, schema, default: undefined, form, secret: true }
}

/** Returns a setting of a key or password; no message shows it. White space around it is dropped. */
export function secretSetting(
  about: About & { form?: string; pattern?: RegExp },
): Setting<string | undefined> {
  const { form = 'a text of one line', pattern = /^[^\r\n]+$/, ...rest } = about
  return { ...rest, schema: z.string().trim().regex(pattern), default: undefined, form, secret: true }
}

/** Returns a setting of one of a few words. */
export function choiceSetting<const Choice extends string>(
  about: About & { choices: readonly [Choice, ...Choice[]]; default: NoInfer<Choice> },
): Setting<Choice> {
  const { choices, ...rest } = about
  return { ...rest, schema: z.enum(choices), form: `one of ${choices.map(one => `"${one}"`).join(', ')}` }
}

/** Returns a setting of true or false. */
export function switchSetting(about: About & { default?: boolean }): Setting<boolean> {
  const schema = z.enum(['true', 'false']).transform(text => text === 'true')
  return { ...about, schema, default: String(about.default ?? false), form: '"true" or "false"' }
}

/**
 * Returns a setting of texts between commas, trimmed, without duplicates and empty ones; each matches
 * `pattern`.
 */
export function listSetting(
  about: About & { form: string; pattern?: RegExp; default?: string },
): Setting<readonly string[]> {
  const { pattern = /./, ...rest } = about
  const toParts = (text: string) => new Set(text.split(',').map(part => part.trim()))
  const schema = z
    .string()
    .transform(text => [...toParts(text)].filter(part => part !== ''))
    .pipe(z.array(z.string().regex(pattern)))
  return { ...rest, schema, default: about.default ?? '', form: `${about.form}, separated by commas` }
}

/** Returns a setting of JSON that fits the schema. Declare it secret if it may hold passwords. */
export function jsonSetting<Schema extends z.ZodType>(
  about: About & { schema: Schema; form: string; secret?: boolean; default?: string },
): Setting<z.output<Schema> | undefined> {
  const { secret = false, form, ...rest } = about
  const schema = z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text)
      } catch {
        context.addIssue({ code: 'custom', message: 'not JSON' })
        return z.NEVER
      }
    })
    .pipe(about.schema) as z.ZodType<z.output<Schema>, string>
  return { ...rest, schema, default: about.default, form: `JSON: ${form}`, secret }
}
