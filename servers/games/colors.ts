/** Removes Minecraft's color codes: "§a". */
export function withoutSectionColors(text: string): string {
  return text.replace(/§./gu, '')
}

/** Removes Quake's color codes: "^1". */
export function withoutCaretColors(text: string): string {
  return text.replace(/\^[0-9a-z]/gi, '')
}
