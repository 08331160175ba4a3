/**
 * Encodes a text with one byte per character, as old games expect. Other characters become a question mark:
 * cut to a byte, "Ļ" (U+013B) would turn into a semicolon and begin a second command.
 */
export function toLatin1(text: string): Buffer {
  const composed = text.normalize('NFC').replace(/[^\u0020-\u007e\u00a0-\u00ff]/gu, '?')
  return Buffer.from(composed, 'latin1')
}
