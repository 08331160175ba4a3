import type { ToolRules } from '../../schemas/tool-rules.ts'
import type { OfferChange } from '../core/forwarding.ts'
import type { Log } from '../core/log.ts'
import {
  buildCatalogue,
  type Catalogue,
  EMPTY_CATALOGUE,
  isKnown,
  type Part,
  type TakenNames,
} from './catalogue.ts'
import { type NameMemory, openNameOwners } from './name-owners.ts'

export interface LiveCatalogueDeps {
  log: Log
  /** Names that no server's tool or prompt may have. */
  taken: TakenNames
  /** Returns the most characters that a name may have. */
  longestName: () => number
  names: NameMemory
  /** Returns which tools the hub takes, by the server. */
  toolRules: () => Readonly<Record<string, ToolRules>>
}

/** Keeps the current catalogue; builds it anew only if something in it changed. */
export interface LiveCatalogue {
  readonly catalogue: Catalogue
  /**
   * Reads the connections, undefined before there were any; returns what changed for clients. A connection
   * that cannot be built into the catalogue is left out and logged.
   */
  look(connections: readonly Part[] | undefined): OfferChange
}

/** Opens a catalogue; calls `onRead` once the earlier owners of names are read. */
export function openCatalogue(
  { log, taken, longestName, names, toolRules }: LiveCatalogueDeps,
  onRead: () => void,
): LiveCatalogue {
  const owners = openNameOwners({ memory: names, log, onRead })
  let catalogue = EMPTY_CATALOGUE
  let signatures = { tools: '', resources: '', prompts: '' }
  let naming = ''
  const rules = () => ({ taken, longest: longestName(), owners: owners.known, toolRules: toolRules() })
  const isSound = (connection: Part) => {
    try {
      signaturesOf([connection])
      buildCatalogue([connection], rules())
      return true
    } catch (error) {
      log.error('server_left_out', { server: connection.spec.name, error })
      return false
    }
  }
  const look = (connections: readonly Part[] | undefined) => {
    const all = connections ?? []
    const next = signaturesOf(all)
    const offer = {
      tools: next.tools !== signatures.tools,
      resources: next.resources !== signatures.resources,
      prompts: next.prompts !== signatures.prompts,
    }
    const known = all.filter(isKnown).map(({ spec }) => spec.name)
    const nextNaming = [longestName(), owners.isRead, JSON.stringify(toolRules()), ...known].join(' ')
    const isOther = offer.tools || offer.resources || offer.prompts || nextNaming !== naming
    const before = catalogue
    if (isOther) catalogue = buildCatalogue(all, rules())
    signatures = next
    naming = nextNaming
    if (!isOther) return offer
    if (connections) owners.keep(catalogue.owners)
    offer.tools ||= namesOf(catalogue.tools) !== namesOf(before.tools)
    offer.prompts ||= namesOf(catalogue.prompts) !== namesOf(before.prompts)
    return offer
  }
  return {
    get catalogue() {
      return catalogue
    },
    look(connections) {
      try {
        return look(connections)
      } catch (error) {
        const sound = connections?.filter(isSound)
        if (sound?.length === connections?.length) throw error
        return look(sound)
      }
    },
  }
}

function namesOf(entries: readonly { name: string }[]): string {
  return entries.map(({ name }) => name).join('\n')
}

const texts = new WeakMap<object, string>()

/** Returns a list as text, written once per list. */
function textOf(list: object): string {
  const known = texts.get(list)
  if (known !== undefined) return known
  const text = JSON.stringify(list)
  texts.set(list, text)
  return text
}

/** Returns texts that stay equal while the servers offer the same. */
function signaturesOf(connections: readonly Part[]) {
  const write = (listsOf: (connection: Part) => readonly (readonly object[])[]) =>
    connections
      .map(one => ({ one, lists: listsOf(one).filter(list => list.length > 0) }))
      .filter(({ lists }) => lists.length > 0)
      .map(({ one, lists }) =>
        [one.spec.name, one.spec.prefix, one.instructions, ...lists.map(textOf)].join('\n'),
      )
      .join('\n\n')
  return {
    tools: write(({ offer }) => [offer.tools]),
    resources: write(({ offer }) => [offer.resources, offer.resourceTemplates]),
    prompts: write(({ offer }) => [offer.prompts]),
  }
}
