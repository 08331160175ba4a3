/** Matches characters that are invisible, reverse the text beside them, or look like a plain space. */
const UNCLEAR =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}|\u2800/gu

/** Writes such characters as escapes like `\\u202e`, because a person approves the text. */
export function escapeUnseen(text: string) {
  return text.replace(UNCLEAR, found =>
    [...Array(found.length).keys()]
      .map(at => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
