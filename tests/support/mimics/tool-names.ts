import { type Json, toObjects, toText } from './json.ts'

/** Returns the names of a request's tools, in any provider's form. */
export function toolNamesOf({ tools }: Json): string[] {
  return toObjects(tools)
    .flatMap(tool => toObjects(tool['functionDeclarations'] ?? [tool['function'] ?? tool]))
    .map(tool => toText(tool['name']))
}
