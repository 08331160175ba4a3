import {
  type Document,
  isAlias,
  isCollection,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
} from 'yaml'
import { HubError } from '../core/errors.ts'
import { withoutComments } from './json-comments.ts'

/** A text's nodes, and its problems, each at an offset of the text. */
export interface YamlDocument {
  document: Document.Parsed
  problems: { offset: number; message: string }[]
  counter: LineCounter
}

const NEEDS_QUOTES = 'a text that begins with * needs quotes'
const NO_KEY = 'a list or a mapping is no key; a text that begins with [ or { needs quotes'
/** Deepest nesting: parsers recurse for each level, and no config needs more. */
const MOST_DEPTH = 100
/** Most aliases times characters: each alias may stand for almost the whole text. */
const MOST_ALIASED = 1_000_000
const STRING_OR_BRACKET = /"(?:[^"\\\n]|\\.)*"?|[[\]{}]/g
/** Matches `- - - - x`, which opens a sequence with each sign. */
const SIGNS_IN_A_ROW = new RegExp(`(?:[-?:][ \\t]+){${MOST_DEPTH}}`)
const TOO_DEEP = `nests more than ${MOST_DEPTH} levels deep; write it flatter`

/**
 * Parses YAML (JSON is YAML too, with comments or without) in a time that grows with the text and not with
 * its square. Throws `bad_request` where the text nests too deep or its aliases stand for too much.
 */
export function readDocument(text: string): YamlDocument {
  refuseDeep(text)
  const counter = new LineCounter()
  // The parser compares each key of a mapping with all others; `findProblems` looks them up instead.
  const options = { lineCounter: counter, prettyErrors: false, uniqueKeys: false }
  const document = parseDocument(withoutComments(text), options)
  const isTooDeep = document.errors.some(({ message }) => message.includes('call stack'))
  if (isTooDeep) throw new HubError('bad_request', TOO_DEEP)
  const found = document.errors.map(({ code, pos, message }) => ({
    offset: pos[0],
    message: code === 'BAD_ALIAS' ? NEEDS_QUOTES : message,
  }))
  return { document, problems: found.length > 0 ? found : findProblems(document, text), counter }
}

/** Throws where the text nests too deep, before a parser spends time and memory on its brackets. */
export function refuseDeep(text: string): void {
  let depth = 0
  for (const [token] of text.matchAll(STRING_OR_BRACKET)) {
    if (token === '[' || token === '{') depth++
    else if (token === ']' || token === '}') depth = Math.max(0, depth - 1)
    if (depth > MOST_DEPTH) throw new HubError('bad_request', TOO_DEEP)
  }
  if (SIGNS_IN_A_ROW.test(text)) throw new HubError('bad_request', TOO_DEEP)
}

/**
 * Returns duplicate keys, aliases without an anchor, and aliases that stand for what contains them, which the
 * parser accepts: an unquoted glob such as *_high looks like an alias.
 */
function findProblems(document: Document, text: string): YamlDocument['problems'] {
  const problems: YamlDocument['problems'] = []
  const anchors = new Set<string>()
  let aliases = 0
  visit(document, {
    Node: (_key, node, path) => {
      if (!isAlias(node)) return void (node.anchor && anchors.add(node.anchor))
      aliases++
      const isEndless = path.some(above => isNode(above) && !isAlias(above) && above.anchor === node.source)
      if (anchors.has(node.source) && !isEndless) return
      const why = isEndless ? 'stands for what contains it; write the value out' : NEEDS_QUOTES
      problems.push({ offset: node.range?.[0] ?? 0, message: `*${node.source}: ${why}` })
    },
    Map: (_key, map) => {
      if (map.anchor) anchors.add(map.anchor)
      const keys = new Set<unknown>()
      for (const { key } of map.items) {
        if (isCollection(key)) problems.push({ offset: key.range?.[0] ?? 0, message: NO_KEY })
        if (!isScalar(key)) continue
        if (keys.has(key.value)) {
          problems.push({ offset: key.range?.[0] ?? 0, message: 'Map keys must be unique' })
        }
        keys.add(key.value)
      }
    },
  })
  if (aliases * text.length > MOST_ALIASED) {
    const what = `has ${aliases} aliases (*name) in ${text.length} characters, which stand for too much`
    throw new HubError('bad_request', `${what}; write the values out`)
  }
  return problems
}
