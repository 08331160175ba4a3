import { HubError } from './errors.ts'
import type { Field } from './form-fields.ts'

/** What nobody may be asked for in a form, as words in lower case. */
const SECRETS = new RegExp(
  `\\b(?:${[
    'pass ?(?:words?|wd|phrases?|codes?)',
    'pwd|passwort|kennwort|contraseña|senha|mot de passe',
    'secrets?|credentials?|tokens?|cvv|cvc|otp|totp|mfa|2fa|pin',
    '(?:api|access|private|secret|ssh|encryption|license|signing|recovery|seed|wallet|auth) ?(?:keys?|phrase)',
    '(?:verification|security|recovery|one time|login|sms) ?codes?',
    '(?:credit|debit|bank) ?cards?|card number',
  ].join('|')})\\b`,
  'u',
)

/** A field that is named just so; a sort key, a primary key and the like are none. */
const KEY = /^(?:your |my )?keys?$/

/** A warning, such as "do not give us your pin", asks for nothing. It ends where its sentence or its bracket does. */
const WARNING =
  /\b(?:do not|don't|never) (?:enter|give|include|provide|send|share|tell|type|use)\b[^.;!?)]*/giu

/**
 * Throws `bad_request` where a form wants a password, a key or another secret: its note would stand in the chat and in
 * the store. The protocol has servers open a page for that.
 */
export function checkNoSecret(message: string, fields: readonly Field[]): void {
  const open = fields.filter(({ type, choices }) => type !== 'boolean' && !choices)
  const isSecret = ({ name, about, format }: Field) =>
    format === 'password' ||
    KEY.test(toWords(name)) ||
    SECRETS.test(toWords(`${name} ${about.replace(WARNING, '')}`))
  const secret = open.find(isSecret)
  if (!secret && !(open.length > 0 && SECRETS.test(toWords(message)))) return
  throw new HubError(
    'bad_request',
    `${secret?.name ?? 'message'}: a form must not ask for passwords, keys or other secrets; have a page opened for that (mode "url")`,
  )
}

/** "apiKey", "API_KEY" and "api-key" are "api key". */
function toWords(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/(\p{Ll})(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1$2 ')
    .replace(/[\s_\-.:/]+/g, ' ')
    .toLowerCase()
    .trim()
}
