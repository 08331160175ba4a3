import {
  type Environment,
  readSetting,
  type Setting,
  SettingsError,
  type SettingsOf,
  type SettingsTable,
} from './env.ts'
import { ToolFailure } from './failure.ts'
import { cleanText } from './text.ts'

/**
 * The settings of an upstream's instances: variables `<PREFIX>_<SETTING>` and `<PREFIX>_<NAME>_<SETTING>`.
 */
export interface InstanceSpec<Table extends SettingsTable & { URL: Setting<string> }> {
  /** The upstream's title in messages: "Radarr". */
  title: string
  /** The prefix of its variables: "RADARR". */
  prefix: string
  /**
   * Settings by the end of their variables; `URL` decides whether an instance exists, so make it
   * `required(urlSetting(…))`.
   */
  settings: Table
  /** Full names of other variables with this prefix, which are read elsewhere. */
  others?: readonly string[]
}

/** One configured upstream. */
export interface Instance<Table extends SettingsTable> {
  /**
   * "radarr" for variables without a name, else "4k" for RADARR_4K_URL, "living-room" for
   * RADARR_LIVING_ROOM_URL.
   */
  readonly name: string
  /** "Radarr", "Radarr (4k)". */
  readonly title: string
  readonly settings: SettingsOf<Table>
  /**
   * Problems of its settings; undefined if there are none. Only this instance is unusable then, and each
   * wrong value is a default or an empty text in `settings`.
   */
  readonly problem?: string
  /** The variable of each setting, for messages: `{ URL: 'RADARR_4K_URL' }`. */
  readonly variables: { readonly [Name in keyof Table]: string }
}

type InstanceTable = SettingsTable & { URL: Setting<string> }

/** Variables that Docker's links and Kubernetes' services put into every environment. */
const INJECTED = /^(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_\w+)?|NAME|ENV_\w+)$/

/**
 * Reads the instances of the environment: the one without a name first, then by name. The problems of an
 * instance are in its `problem`. Throws SettingsError if there are wrong variables but no instance.
 */
export function readInstances<const Table extends InstanceTable>(
  spec: InstanceSpec<Table>,
  environment: Environment,
): Instance<Table>[] {
  const problems: string[] = []
  const groups = groupVariables(spec, environment, problems)
  if (problems.length > 0 && groups.size === 0) throw new SettingsError(problems)
  const instances = [...groups].map(([name, stem]) => readInstance(spec, name, stem, environment, problems))
  const own = toName(spec.prefix, `${spec.prefix}_`)
  return instances.sort(
    (a, b) => Number(b.name === own) - Number(a.name === own) || (a.name < b.name ? -1 : 1),
  )
}

/** Returns the beginning of each instance's variables, by the instance's name. */
function groupVariables(
  spec: InstanceSpec<InstanceTable>,
  environment: Environment,
  problems: string[],
): Map<string, string> {
  const stems = new Map<string, Set<string>>()
  const suffixes = Object.keys(spec.settings).sort((a, b) => b.length - a.length)
  const others = new Set((spec.others ?? []).flatMap(name => [name, `${name}_FILE`]))
  for (const [variable, value] of Object.entries(environment)) {
    if (!value || others.has(variable) || !variable.startsWith(`${spec.prefix}_`)) continue
    const rest = variable.slice(spec.prefix.length + 1).replace(/_FILE$/, '')
    const suffix = suffixes.find(end => rest === end) ?? suffixes.find(end => rest.endsWith(`_${end}`))
    if (suffix === undefined) {
      const known = suffixes.map(end => `${spec.prefix}_${end}`).join(', ')
      const problem = `${variable} is not a setting; there are ${known}, and each with a name between.`
      if (!INJECTED.test(rest)) problems.push(problem)
      continue
    }
    const stem = `${spec.prefix}_${rest.slice(0, rest.length - suffix.length)}`
    const name = toName(spec.prefix, stem)
    stems.set(name, (stems.get(name) ?? new Set()).add(stem))
  }
  return new Map([...stems].map(([name, ways]) => [name, pickStem(spec.title, name, [...ways], problems)]))
}

function pickStem(title: string, name: string, stems: string[], problems: string[]): string {
  if (stems.length > 1) {
    const ways = stems.map(stem => `${stem}…`).join(' and ')
    problems.push(`${ways} both name the ${title} "${name}"; give one of them another name.`)
  }
  return stems[0] ?? ''
}

/** Returns "radarr" for "RADARR_", "living-room" for "RADARR_LIVING_ROOM_". */
function toName(prefix: string, stem: string): string {
  const own = stem.slice(prefix.length + 1).replace(/_$/, '')
  return (own === '' ? prefix : own).toLowerCase().replaceAll('_', '-')
}

function readInstance<Table extends InstanceTable>(
  spec: InstanceSpec<Table>,
  name: string,
  stem: string,
  environment: Environment,
  /** Problems without a known instance, such as a mistyped variable. */
  common: readonly string[],
): Instance<Table> {
  const problems = [...common]
  const entries = Object.entries(spec.settings).map(([key, setting]) => {
    const variable = `${stem}${key}`
    const { value, problem } = readSetting(variable, setting, environment)
    if (problem !== undefined) problems.push(problem)
    // No request uses this: an instance with a problem makes none.
    const standIn = setting.default === undefined ? '' : setting.schema.safeParse(setting.default).data
    return { key, variable, value: problem === undefined ? value : standIn }
  })
  return {
    name,
    title: stem === `${spec.prefix}_` ? spec.title : `${spec.title} (${name})`,
    ...(problems.length > 0 ? { problem: problems.join('\n') } : {}),
    settings: Object.freeze(
      Object.fromEntries(entries.map(({ key, value }) => [key, value])),
    ) as SettingsOf<Table>,
    variables: Object.fromEntries(
      entries.map(({ key, variable }) => [key, variable]),
    ) as Instance<Table>['variables'],
  }
}

/**
 * Picks the instance with this name, in any case; without a name the first. Throws a ToolFailure that lists
 * the instances, or, if none is configured, the missing settings and where to find them.
 */
export function pickInstance<Picked extends { readonly name: string }>(
  instances: readonly Picked[],
  name: string | undefined,
  spec: Pick<InstanceSpec<InstanceTable>, 'title' | 'prefix' | 'settings'>,
): Picked {
  const [first] = instances
  if (first === undefined) throw toUnconfigured(spec)
  if (name === undefined) return first
  const found = instances.find(instance => instance.name.toLowerCase() === name.trim().toLowerCase())
  if (found) return found
  throw new ToolFailure({
    what: `There is no ${spec.title} called "${cleanText(name, 60)}".`,
    where: `the instances of ${spec.title}`,
    why: `there is ${instances.map(instance => instance.name).join(', ')}`,
    fix: 'Call it again with one of these names, or without a name for the first.',
  })
}

/** Returns the failure of a tool whose upstream is not configured. */
export function toUnconfigured(
  spec: Pick<InstanceSpec<InstanceTable>, 'title' | 'prefix' | 'settings'>,
): ToolFailure {
  const needed = Object.entries(spec.settings).filter(([, setting]) => setting.required)
  const names = needed.map(([key]) => `${spec.prefix}_${key}`)
  const hints = needed.map(([key, { purpose, where }]) => {
    return `${spec.prefix}_${key} is ${purpose}${where === undefined ? '' : ` (${where})`}`
  })
  return new ToolFailure({
    what: `${spec.title} is not configured here.`,
    where: names.join(', '),
    why: `${names.join(' and ')} ${names.length > 1 ? 'are' : 'is'} not set`,
    fix: `Ask the owner to set ${names.join(' and ')}: ${hints.join('; ')}.`,
    isUnconfigured: true,
  })
}
