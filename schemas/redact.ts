const SHORTEST = 3

/** Parts of the names of secrets: of keys, variables, headers and options of a command. */
export const SECRET_NAMES =
  'key(?!board|cloak|word)|token|secret|passw|passphrase|pass\\b|credential|auth(?:orization|[-_]header|(?![\\w-]))|(?<![a-z])pat(?![a-z])|bearer|cookie'
const SECRET = new RegExp(SECRET_NAMES, 'i')

/** Tells whether what goes by this name is a secret. */
export function isSecretName(name: string): boolean {
  return SECRET.test(name)
}

/** Removes secrets from a text. */
export type Redact = (text: string) => string

/**
 * Replaces each secret, plain, percent-encoded and as in a JSON text, with `***`. Values of headers whose
 * name suggests it (such as `Authorization`) are secrets too. Secrets shorter than three characters are kept:
 * they would match in every text.
 */
export function createRedact(
  secrets: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): Redact {
  const told = Object.entries(headers).flatMap(([name, value]) =>
    isSecretName(name) || /session/i.test(name) ? [value, value.replace(/^\w+ +/, '')] : [],
  )
  const forms = [...secrets, ...told]
    .flatMap(secret => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
    .filter(form => form.length >= SHORTEST)
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length)
  return text => longestFirst.reduce((rest, form) => rest.replaceAll(form, '***'), text)
}
