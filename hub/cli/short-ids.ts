import { HubError } from '../core/errors.ts'

/** Characters of an id's beginning that name it, so that a word is no id by chance. */
const SHORTEST = 4
const MOST_NAMED = 5

/**
 * Returns the id that a person means: by its number, or by the beginning of it, also without what stands
 * before `_`. What means none is returned as it is, since the hub says what there is. Throws
 * `invalid_arguments` where it means several.
 */
export function findId(given: string, known: readonly { id: string; number?: number }[]): string {
  if (/^\d{1,9}$/.test(given)) return known.find(({ number }) => number === Number(given))?.id ?? given
  if (known.some(({ id }) => id === given) || given.length < SHORTEST) return given
  const begun = known.filter(({ id }) => id.startsWith(given) || id.replace(/^[a-z]+_/, '').startsWith(given))
  if (begun.length < 2) return begun[0]?.id ?? given
  const named = begun.slice(0, MOST_NAMED).map(({ id }) => id)
  throw new HubError(
    'invalid_arguments',
    `${given} begins ${begun.length} ids: ${named.join(', ')}${begun.length > MOST_NAMED ? ', …' : ''}. Write more of the one that you mean.`,
  )
}
