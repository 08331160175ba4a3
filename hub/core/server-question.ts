import { HubError } from './errors.ts'
import { type Field, readFields } from './form-fields.ts'
import type { JsonObject } from './forwarding.ts'
import { stripControl, truncate } from './text.ts'

/** Method by which a server asks a person. */
export const ELICITATION = 'elicitation/create'

/** Milliseconds that a person has to answer a question, while its server waits. */
export const QUESTION_MS = 5 * 60_000

const LONGEST_MESSAGE = 1_000
const LONGEST_URL = 4_000

/**
 * Returns the params of an `elicitation/create` as people may see them: the message names the server and
 * quotes it. Throws `bad_request` for a form that asks for a secret or breaks the protocol, and for an
 * address that is no page.
 */
export function quoteQuestion(server: string, params: JsonObject): JsonObject {
  const { mode, message, url, requestedSchema } = params
  // Text of others goes on one line, without what could end the quotation.
  const line = stripControl(String(message ?? '')).replace(/\s+/g, ' ')
  const words = truncate(line.replace(/[“”]/g, '"').trim(), LONGEST_MESSAGE)
  const quoted = `the server ${server} asks, in its own words: “${words}”. Never answer with a password or a key`
  if (mode === 'url') return { ...params, message: quoted, url: toPage(url) }
  checkNoSecret(String(message ?? ''), readFields(requestedSchema))
  return { ...params, message: quoted }
}

function toPage(url: unknown): string {
  const page = typeof url === 'string' && url.length <= LONGEST_URL ? URL.parse(url) : null
  if (page?.protocol === 'https:' || page?.protocol === 'http:') return page.href
  throw new HubError('bad_request', 'url: only a page of http or https can be opened')
}

/** Matches secrets that a form must not ask for, as words in lower case. */
const SECRETS = new RegExp(
  `\\b(?:${[
    'pass ?(?:words?|wd|phrases?|codes?|keys?)',
    'pwd|pw|passwort|kennwort|wachtwoord|contraseña|senha|hasło|heslo|mot de passe',
    'secrets?|credentials?|tokens?|bearer|cookies?|session ids?|mnemonics?|cvv|cvc|otp|totp|mfa|2fa|pin',
    '(?:api|access|private|secret|ssh|encryption|license|signing|recovery|seed|wallet|auth) ?(?:keys?|phrase)',
    '(?:verification|security|recovery|one time|login|sms) ?codes?',
    '(?:credit|debit|bank) ?cards?|card number',
  ].join('|')})\\b|пароль|密码|密碼|パスワード|비밀번호`,
  'u',
)

/** Matches a field whose whole name is "key"; a sort key, a primary key and the like are no secrets. */
const KEY = /^(?:your |my )?keys?$/

/**
 * Matches a warning, such as "do not give us your pin", to the end of its sentence or bracket: it asks for
 * nothing.
 */
const WARNING =
  /\b(?:do not|don't|never) (?:enter|give|include|provide|send|share|tell|type|use)\b[^.;!?)]*/giu

/**
 * Throws `bad_request` where a form wants a password, a key or another secret: its note would stay in the
 * chat and in the store. The protocol tells servers to open a page for secrets.
 */
function checkNoSecret(message: string, fields: readonly Field[]): void {
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

/** Splits a name into words: "apiKey", "API_KEY" and "api-key" are all "api key". */
function toWords(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/(\p{Ll})(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1$2 ')
    .replace(/[\s_\-.:/]+/g, ' ')
    .toLowerCase()
    .trim()
}
