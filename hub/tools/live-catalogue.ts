import type { OfferChange } from '../core/forwarding.ts'
import type { Log } from '../core/log.ts'
import { buildCatalogue, type Catalogue, EMPTY_CATALOGUE, isKnown, type TakenNames } from './catalogue.ts'
import type { Connection } from './connection.ts'
import { type NameMemory, openNameOwners } from './name-owners.ts'

export interface LiveCatalogueDeps {
  log: Log
  /** Names that nothing of a server may have. */
  taken: TakenNames
  /** Characters that a name may have. */
  longestName: () => number
  names: NameMemory
}

/** The catalogue as it is now, built anew only where something of it is another. */
export interface LiveCatalogue {
  readonly catalogue: Catalogue
  /** Looks at the connections, undefined before there were any; says what clients see changed. */
  look(connections: readonly Connection[] | undefined): { catalogue: boolean; offer: OfferChange }
}

/** Calls `onRead` once it is known who had which name before. */
export function openCatalogue(
  { log, taken, longestName, names }: LiveCatalogueDeps,
  onRead: () => void,
): LiveCatalogue {
  const owners = openNameOwners({ memory: names, log, onRead })
  let catalogue = EMPTY_CATALOGUE
  let signatures = { tools: '', resources: '', prompts: '' }
  let naming = ''
  return {
    get catalogue() {
      return catalogue
    },
    look(connections) {
      const all = connections ?? []
      const next = signaturesOf(all)
      const offer = {
        tools: next.tools !== signatures.tools,
        resources: next.resources !== signatures.resources,
        prompts: next.prompts !== signatures.prompts,
      }
      const longest = longestName()
      const known = all.filter(isKnown).map(({ spec }) => spec.name)
      const nextNaming = [longest, owners.isRead, ...known].join(' ')
      const isOther = offer.tools || offer.resources || offer.prompts || nextNaming !== naming
      signatures = next
      naming = nextNaming
      if (!isOther) return { catalogue: false, offer }
      const before = catalogue
      catalogue = buildCatalogue(all, { taken, longest, owners: owners.known })
      if (connections) owners.keep(catalogue.owners)
      offer.tools ||= namesOf(catalogue.tools) !== namesOf(before.tools)
      offer.prompts ||= namesOf(catalogue.prompts) !== namesOf(before.prompts)
      return { catalogue: true, offer }
    },
  }
}

function namesOf(entries: readonly { name: string }[]): string {
  return entries.map(({ name }) => name).join('\n')
}

const texts = new WeakMap<object, string>()

/** A text of what a server lists, written once for each list. */
function textOf(list: object): string {
  const known = texts.get(list)
  if (known !== undefined) return known
  const text = JSON.stringify(list)
  texts.set(list, text)
  return text
}

/** Equal while servers offer the same. */
function signaturesOf(connections: readonly Connection[]) {
  const write = (listsOf: (connection: Connection) => readonly (readonly object[])[]) =>
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
