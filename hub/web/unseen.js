/** Characters that nobody sees, that turn what stands beside them around, or that look like a plain space. */
const UNCLEAR =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}|\u2800/gu

/**
 * Text in which nothing is hidden: such characters stand as `\\u202e`. It is what a person approves.
 * @param {string} text
 */
export function escapeUnseen(text) {
  return text.replace(UNCLEAR, found =>
    [...Array(found.length).keys()]
      .map(at => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
