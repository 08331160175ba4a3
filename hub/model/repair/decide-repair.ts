import { isDeepStrictEqual } from 'node:util'
import type { ModelRefusal } from '../../core/model.ts'
import type { ShapedRequest } from '../form/form.ts'
import type { Repair } from './repairs.ts'

/** Changes that are tried, in this order, where a refusal does not say what it blames. */
export type Guess =
  | 'parameter'
  | 'pictures'
  | 'thinking'
  | 'first half'
  | 'second half'
  | 'flat'
  | `named ${string}`

export interface RepairState {
  refusal: ModelRefusal
  /** Repairs in force for the refused request, without guesses that changed nothing. */
  repairs: readonly Repair[]
  /** The request with these repairs. */
  request: ShapedRequest
  guesses: readonly Guess[]
  /** Parameters that some servers of this provider do not know. */
  optional: readonly string[]
}

export interface NextTry {
  repairs: Repair[]
  /** Missing where the refusal itself names the part that it blames. */
  guess?: Guess
}

/** Parts of a request that are no parameters, and cannot be left out. */
const PARTS = ['messages', 'input', 'contents', 'system', 'system_instruction', 'model', 'tools', 'functions']
const LIMITS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens']
/** Codes of OpenAI and FastAPI for an unknown parameter. */
const UNKNOWN = [undefined, 'unsupported_parameter', 'unknown_parameter', 'extra_forbidden']

/**
 * Returns the next single change of a refused request: what the refusal names, else the smallest guess.
 * Undefined where nothing is left. The provider's words serve only to find a tool by its name or number.
 */
export function decideRepair(state: RepairState): NextTry | undefined {
  const { refusal, repairs, guesses } = state
  const named = nameParameter(refusal, repairs) ?? blameByNumber(state)
  if (named) return { repairs: [...repairs, named] }
  const blamed = blameByName(state)
  // A guess: the refusal may name the tool of a call in the history, and then comes again without the tool.
  const asGuess: Guess = `named ${blamed?.names.join(' ')}`
  if (blamed && !guesses.includes(asGuess)) return { repairs: [...repairs, blamed], guess: asGuess }
  return guess(state)
}

function nameParameter({ param, code }: ModelRefusal, repairs: readonly Repair[]): Repair | undefined {
  const name = param?.replace(/\[.*$/, '')
  const [part] = name?.split('.') ?? []
  if (!name || !part || PARTS.includes(part)) return undefined
  // A limit that is too large is refused, but it is a known parameter.
  if (LIMITS.includes(name) && !UNKNOWN.includes(code)) return undefined
  const isOut = repairs.some(one => one.kind === 'parameter' && one.name === name)
  return isOut ? undefined : { kind: 'parameter', name }
}

type LeftOut = Extract<Repair, { kind: 'tools' }>

/** Reads the number in `tools[3].function`, `tools.3.custom` or `tools[0].function_declarations[3]`. */
function blameByNumber({ refusal: { param = '', said = '' }, request }: RepairState): LeftOut | undefined {
  const numbers = [param, said].map(
    text => /\bfunction_declarations\[(\d+)/.exec(text) ?? /\btools(?:\[|\.)(\d+)/.exec(text),
  )
  const tool = numbers.map(found => request.tools[Number(found?.[1] ?? -1)]).find(each => each !== undefined)
  return tool && toBlamed(request, [tool.name])
}

function blameByName({ refusal: { said = '' }, request }: RepairState): LeftOut | undefined {
  const names = request.tools.map(({ name }) => name).filter(name => isNamed(name, said))
  return names.length === 0 ? undefined : toBlamed(request, names)
}

function toBlamed(request: ShapedRequest, sent: readonly string[]): LeftOut {
  return { kind: 'tools', names: sent.map(name => request.names.get(name) ?? name), isBlamed: true }
}

/** Tells whether a text quotes a name, or contains one that is no common word. */
function isNamed(name: string, said: string): boolean {
  const quoted = [`'${name}'`, `"${name}"`, `\`${name}\``].some(text => said.includes(text))
  return quoted || (/[_-]/.test(name) && said.split(/[^A-Za-z0-9_-]+/).includes(name))
}

function guess(state: RepairState): NextTry | undefined {
  const { refusal, repairs, request, guesses } = state
  const [part] = refusal.param?.split(/[.[]/) ?? []
  // The refusal is about a parameter that cannot be left out, or already is.
  if (part && !PARTS.includes(part)) return undefined
  const isOfTools = part === 'tools' || part === 'functions' || refusal.code === 'invalid_function_parameters'
  const isOfHistory = Boolean(part) && !isOfTools
  const own = request.tools.map(({ name }) => request.names.get(name) ?? name)
  const middle = Math.ceil(own.length / 2)
  const suspects = (names: string[]): Repair => ({ kind: 'tools', names, isBlamed: false })
  const options: { guess: Guess; change: Repair[]; when: boolean }[] = [
    {
      guess: 'parameter',
      change: state.optional.map(name => ({ kind: 'parameter', name })),
      when: !part && !isOfTools && state.optional.length > 0,
    },
    {
      guess: 'pictures',
      change: [{ kind: 'pictures' }],
      when: !isOfTools && request.messages.some(one => 'images' in one && (one.images?.length ?? 0) > 0),
    },
    {
      guess: 'thinking',
      change: [{ kind: 'thinking' }],
      when: !isOfTools && request.messages.some(one => one.role === 'assistant' && one.thinking),
    },
    { guess: 'first half', change: [suspects(own.slice(0, middle))], when: !isOfHistory && own.length > 0 },
    { guess: 'second half', change: [suspects(own.slice(middle))], when: !isOfHistory && own.length > 1 },
    {
      guess: 'flat',
      change: [{ kind: 'flat' }, ...(own.length > 0 ? [suspects(own)] : [])],
      when: own.length > 1 || request.messages.some(one => one.role !== 'user'),
    },
  ]
  const isKnown = (change: Repair[]) =>
    change.every(one => repairs.some(known => isDeepStrictEqual(known, one)))
  const next = options.find(
    option => option.when && !guesses.includes(option.guess) && !isKnown(option.change),
  )
  return next && { repairs: [...repairs, ...next.change], guess: next.guess }
}

/** Returns the first group of suspects with an offered tool, to try it again. */
export function findSuspects(repairs: readonly Repair[], offered: readonly string[]) {
  return repairs.find(
    one => one.kind === 'tools' && !one.isBlamed && one.names.some(name => offered.includes(name)),
  )
}

/**
 * Returns the repairs after a group of suspects was refused again. The group becomes two smaller ones; a
 * single tool becomes the blamed one. With a tool to blame, calls need not be sent as text.
 */
export function splitSuspects(repairs: readonly Repair[], group: Repair): Repair[] {
  if (group.kind !== 'tools') return [...repairs]
  const { names } = group
  const middle = Math.ceil(names.length / 2)
  const halves: Repair[] = [names.slice(0, middle), names.slice(middle)].map(half => ({
    ...group,
    names: half,
  }))
  const found: Repair[] = names.length === 1 ? [{ ...group, isBlamed: true }] : halves
  return repairs
    .filter(one => names.length > 1 || one.kind !== 'flat')
    .flatMap(one => (one === group ? found : [one]))
}
