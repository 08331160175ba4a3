// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g

/** Returns text of others without control characters, except line ends and tabs. */
export function stripControl(text: string): string {
  return text.replace(CONTROL, '')
}

/** Puts text of others on one line, so that a name cannot look like an item or a heading of its own. */
export function toLine(text: string): string {
  return stripControl(text.replace(/\s+/g, ' '))
}

const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/

/** Quotes text of others with a mark on each line, so that none can look like anything but a part of it. */
export function quote(text: string): string {
  return text
    .split(LINE_END)
    .map(line => `> ${stripControl(line)}`.trimEnd())
    .join('\n')
}

/** Matches the first character of what chat templates take for the end of a message, a role or a call. */
const MARKER =
  /<(?=[|｜][^|｜\s<>]{1,40}[|｜]>|\/?(?:start_of_turn|end_of_turn|tool_call|tool_response|think|s)>|<\/?SYS>>)|\[(?=\/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])/g

/** Returns text of others so that no model's chat template takes a part of it for anything but text. */
export function withoutMarkers(text: string): string {
  return text.replace(MARKER, found => (found === '<' ? '‹' : '⟦'))
}

/** Puts text of others after its label: on the same line where the text is one line, else quoted below. */
export function quoteAfter(label: string, text: string): string {
  return toLine(text) === text ? `${label} ${text}` : `${label}\n${quote(text)}`
}

/** Returns the mark before an agent's message, given its data, to which a text from outside led. */
export function markOutside(data: Record<string, unknown> | undefined): string {
  return data?.['power'] === 'foreign' ? '[a text from outside led to this] ' : ''
}

/** Matches characters that are invisible or reverse the text beside them, except line ends and tabs. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** Returns text of others as a terminal may print it: no control, bidirectional or invisible characters. */
export function stripUnseen(text: string): string {
  return text.replace(UNSEEN, '')
}

/** Matches the characters of `UNSEEN`, and every space but the plain one. */
const UNCLEAR = new RegExp(`${UNSEEN.source}|(?! )\\p{Zs}|\\u2800`, 'gu')

/** Writes the characters of `UNCLEAR` as escapes such as `\\u202e`. JSON stays the same JSON. */
export function escapeUnseen(text: string): string {
  return text.replace(UNCLEAR, found =>
    [...Array(found.length).keys()]
      .map(at => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

const SEEN = new RegExp(`(?!${UNCLEAR.source})\\S`, 'u')

/** Tells whether a text shows nothing to its reader. The test ends at the first visible character. */
export function isBlank(text: string): boolean {
  return !SEEN.test(text)
}

/** Cuts a text to `max` characters and says how many are missing. */
export function truncate(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length - max} more characters)`
}

/** Adds a full stop to a text that has no mark at its end. */
export function toSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`
}

/** Returns "1 event", "2 events". */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Returns a span of milliseconds as a person says it: "12 s", "5 min", "2 h 10 min", "3 d". */
export function toSpan(span: number): string {
  const seconds = Math.max(0, Math.round(span / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`
  return `${Math.round(hours / 24)} d`
}

/** Returns a text as part of a regular expression that matches just this text. */
export function toPattern(text: string): string {
  return text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')
}

/** Returns a text as one word of a shell's command. */
export function quoteForShell(text: string): string {
  return /^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
