import { isObject, type JsonObject } from '../../core/forwarding.ts'
import { CALL_TOOL, FIND_TOOLS } from '../../core/lean-tools.ts'
import type { ModelTool } from '../../core/model.ts'
import { truncate } from '../../core/text.ts'
import { cleanSchema } from './clean-schema.ts'
import { flattenSchema } from './flatten-schema.ts'
import type { ToolForm } from './form.ts'
import { toSentName } from './names.ts'
import { inlineRefs, propertiesOf, requiredOf } from './schemas.ts'

/**
 * Returns the tools that are sent, in a provider's dialect and in the order of the list. Of too many it keeps
 * the tools that find and call all others, then those in `used`, then the first: the hub's own stand in
 * front.
 */
export function shapeTools(
  tools: readonly ModelTool[],
  form: ToolForm,
  used: ReadonlySet<string>,
): ModelTool[] {
  const allowed = tools.filter(tool => !form.leftOut.includes(tool.name))
  return pickMost(allowed, form.most, used).map(tool => {
    const { schema, notes } = shapeSchema(tool.inputSchema, form)
    const description = describe(tool, notes, form.longestDescription)
    return { ...tool, name: toSentName(tool.name), description, inputSchema: schema }
  })
}

function pickMost(
  tools: readonly ModelTool[],
  most: number,
  used: ReadonlySet<string>,
): readonly ModelTool[] {
  if (tools.length <= most) return tools
  const rank = ({ name }: ModelTool) =>
    name === FIND_TOOLS || name === CALL_TOOL ? 0 : used.has(name) ? 1 : 2
  const kept = new Set(tools.toSorted((one, other) => rank(one) - rank(other)).slice(0, most))
  return tools.filter(tool => kept.has(tool))
}

/**
 * Shapes the schema of a tool. One nested thousands deep becomes an object that takes anything: the server
 * checks it.
 */
function shapeSchema(given: JsonObject, form: ToolForm): { schema: JsonObject; notes: string[] } {
  try {
    const flat = flattenSchema(inlineRefs(given))
    const { schema, notes } = form.plainArguments
      ? tellOddArguments(flat.schema)
      : { schema: flat.schema, notes: [] }
    return {
      schema: { properties: {}, ...cleanSchema(schema, form), type: 'object' },
      notes: [...flat.notes, ...notes],
    }
  } catch (error) {
    if (error instanceof RangeError) return { schema: { type: 'object', properties: {} }, notes: [] }
    throw error
  }
}

/**
 * Moves arguments with names such as `filter[id]` and `$top` into the notes
 * (https://github.com/beautyfree/appstore-connect-mcp/issues/2).
 */
function tellOddArguments(schema: JsonObject): { schema: JsonObject; notes: string[] } {
  const isPlain = (name: string) => /^[A-Za-z0-9_.-]{1,64}$/.test(name)
  const properties = Object.entries(propertiesOf(schema))
  const odd = properties.filter(([name]) => !isPlain(name))
  if (odd.length === 0) return { schema, notes: [] }
  const plain = Object.fromEntries(properties.filter(([name]) => isPlain(name)))
  const told = odd.map(([name, inner]) => {
    const about =
      isObject(inner) && typeof inner['description'] === 'string' ? ` (${inner['description']})` : ''
    return `${name}${requiredOf(schema).includes(name) ? ', required' : ''}${truncate(about, 80)}`
  })
  return {
    schema: { ...schema, properties: plain },
    notes: [`Through ${CALL_TOOL} it takes more: ${told.join('; ')}.`],
  }
}

const POINTER = ` … (cut; ${FIND_TOOLS} shows the rest)`
const LONGEST_NOTES = 600

/** Returns the description with the notes, and marks a cut. Providers refuse a tool without a description. */
function describe(
  { name, title, description }: ModelTool,
  notes: readonly string[],
  longest: number,
): string {
  const told =
    notes.length === 0
      ? ''
      : truncate(`\n${notes.join('\n')}`, Math.min(LONGEST_NOTES, Math.floor(longest / 2)))
  const text = description.trim() || title || name
  const room = longest - told.length
  const cut = text.length <= room ? text : `${text.slice(0, Math.max(0, room - POINTER.length))}${POINTER}`
  return `${cut}${told}`.toWellFormed()
}
