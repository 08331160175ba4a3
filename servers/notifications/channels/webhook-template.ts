/** JSON whose texts may hold `{{name}}`. */
type Template = string | number | boolean | null | Template[] | { [key: string]: Template }

/**
 * Replaces every `{{name}}` in the template's texts by the field of that name; unknown names stay. Only texts
 * are filled, never the JSON itself, so that no message can break out of it.
 */
export function fillTemplate(template: Template, fields: Readonly<Record<string, unknown>>): Template {
  if (typeof template === 'string') {
    return template.replace(/\{\{\s*(\w+)\s*\}\}/g, (all, name: string) =>
      Object.hasOwn(fields, name) ? String(fields[name]) : all,
    )
  }
  if (Array.isArray(template)) return template.map(part => fillTemplate(part, fields))
  if (typeof template !== 'object' || template === null) return template
  return Object.fromEntries(Object.entries(template).map(([key, part]) => [key, fillTemplate(part, fields)]))
}
