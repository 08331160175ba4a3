import { cleanText } from '../../kit/text.ts'

const MAX_NAMES = 256
const MAX_NAME = 60

/** Makes players' names safe to show; undefined if there are players and none has a name. */
export function toNames(names: readonly string[], players: number): string[] | undefined {
  const known = names
    .map(name => cleanText(name, MAX_NAME))
    .filter(name => name !== '')
    .slice(0, MAX_NAMES)
  return known.length === 0 && players > 0 ? undefined : known
}

/** Removes Minecraft's color codes: "§a". */
export function withoutSectionColors(text: string): string {
  return text.replace(/§./gu, '')
}

/** Removes Quake's color codes: "^1". */
export function withoutCaretColors(text: string): string {
  return text.replace(/\^[0-9a-z]/gi, '')
}
