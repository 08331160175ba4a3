/** Without Minecraft's codes for colors: "§a". */
export function withoutSectionColors(text: string): string {
  return text.replace(/§./gu, '')
}

/** Without Quake's codes for colors: "^1". */
export function withoutCaretColors(text: string): string {
  return text.replace(/\^[0-9a-z]/gi, '')
}
