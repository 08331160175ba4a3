import { isSecretName, SECRET_NAMES as NAMES } from '../../schemas/redact.ts'

const MASK = '***'
/** Matches keys whose values are all hidden, whatever their names. */
const HIDDEN = /^env|headers$|secrets?$|passwords?$|credentials?$/i
/** Matches keys whose values are secret also where they are numbers. */
const SECRET_NUMBER = /passw|pass(?:code|phrase)?\b|secret|\bpin\b/i
/** Matches `name=value`, `Name: value` and `--name value`, also inside a command, and the text after it. */
const ASSIGNED = new RegExp(
  `(?<![/@\\w.-])([\\w.-]*(?:${NAMES})[\\w.-]*["']?\\s*[=:]\\s*|--?[\\w-]*(?:${NAMES})[\\w-]*\\s+)\\S[\\s\\S]*`,
  'i',
)
/** Matches an argument whose next argument is a secret: `--token`, `Authorization:`, `api_key`, `Bearer`. */
const ANNOUNCES = new RegExp(
  `^(?:-[^=:]*(?:${NAMES})[^=:]*|[^=:]*(?:${NAMES})[\\w.-]*\\s*[=:]\\s*|(?:[a-z]+[-_])*(?:${NAMES}))$`,
  'i',
)
/**
 * Matches options whose next argument is a variable or a header; one without a value is passed on (docker).
 */
const TAKES_SETTING = /^(?:-e|-H|--env|--headers?)$/
const OPTION = /^--[a-z][a-z-]*$/
/** Matches what follows `-p` and is no password: ports, addresses with ports, folders. */
const NO_PASSWORD = /^(?:-.*|[\d.:[\]/-]+(?:tcp|udp)?|[.~/@].*)$/
/** Matches a password right behind `-p`, which other options of one dash do not look like. */
const SHORT_PASSWORD = /^(-p)(?![\d.:/]+$|[a-z-]+(?:=|$))\S+$/
const ADDRESS = /(?:\b[a-z][a-z0-9+.-]*:\/\/|\$\{\w+\})[^\s"']+/gi
const RANDOM =
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<![a-z0-9])(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{20,}/gi
/** Matches a part of an address's path that only the other side could make up. */
const RANDOM_PART = /(?<=\/)(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{12,}(?=[/?#]|$)/gi
const LOGIN = /:\/\/[^/?#\s"']*@/g

/** Replaces who logs in at the addresses in a text, which may be what another program says of them. */
export function maskLogins(text: string): string {
  return text.replace(LOGIN, `://${MASK}@`)
}

/**
 * Replaces secrets, and what may be one, by `***` in a value of the config, or in a call's arguments.
 * `written` maps expanded texts of the config file to the originals with `${NAME}`, which are shown instead.
 */
export function maskSecrets(
  value: unknown,
  key: string,
  written: ReadonlyMap<string, string> = new Map(),
): unknown {
  const mask = (inner: unknown, name: string, isHidden: boolean): unknown => {
    if (typeof inner === 'string') {
      if (isHidden || isSecretName(name)) return inner && MASK
      return maskText(written.get(inner) ?? inner, name)
    }
    if (typeof inner === 'number' && (isHidden || SECRET_NUMBER.test(name))) return MASK
    if (Array.isArray(inner)) {
      return name === 'args' ? maskArguments(inner, written) : inner.map(each => mask(each, name, isHidden))
    }
    if (typeof inner !== 'object' || inner === null) return inner
    const hides = isHidden || HIDDEN.test(name)
    return Object.fromEntries(Object.entries(inner).map(([own, each]) => [own, mask(each, own, hides)]))
  }
  return mask(value, key, false)
}

function maskArguments(values: readonly unknown[], written: ReadonlyMap<string, string>): string[] {
  const args = values.map(String)
  return args.map((arg, index) => {
    const shown = written.get(arg) ?? arg
    const [before = '', first = ''] = [args[index - 1], args[index - 2]]
    if (TAKES_SETTING.test(before)) return shown.replace(/^([^=:]+[=:]\s*)[\s\S]+/, `$1${MASK}`)
    if (before === '-p' && !NO_PASSWORD.test(arg)) return MASK
    if (ANNOUNCES.test(before) && !TAKES_SETTING.test(first) && !OPTION.test(arg)) return MASK
    return maskText(shown, 'args').replace(SHORT_PASSWORD, `$1${MASK}`)
  })
}

/** Returns what `maskSecrets` hides of a command's arguments: each part, without its scheme or user, its first word. */
export function listHidden(args: readonly string[]): string[] {
  const masked = maskArguments(args, new Map())
  return args.flatMap((arg, index) => {
    const shown = (masked[index] ?? '').split(MASK).map(part => part.replace(/[^\w\s]/g, '\\$&'))
    const parts = new RegExp(`^${shown.join('([\\s\\S]+?)')}$`).exec(arg)?.slice(1) ?? []
    return parts.flatMap(part => [part, part.replace(/^\w+(?:\s+|:)/, ''), ...(/[^\s"']+/.exec(part) ?? [])])
  })
}

function maskText(text: string, name: string): string {
  const safe = text.replace(ADDRESS, maskAddress).replace(/\b(bearer)\s+\S+/gi, `$1 ${MASK}`)
  return name === 'args' || name === 'command'
    ? safe.replace(ASSIGNED, `$1${MASK}`).replace(RANDOM, MASK)
    : safe
}

/** Hides an address's login, query values, fragment, and parts of the path that look random. */
function maskAddress(address: string): string {
  return maskLogins(address)
    .replace(/([?&][^=&#]*=)[^&#]+/g, `$1${MASK}`)
    .replace(/([?&])[^=&#]+(?=[&#]|$)/g, `$1${MASK}`)
    .replace(/#.+/, `#${MASK}`)
    .replace(RANDOM, MASK)
    .replace(RANDOM_PART, (part, at: number, whole: string) => (whole[at - 2] === '/' ? part : MASK))
}
