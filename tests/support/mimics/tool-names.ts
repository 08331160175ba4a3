import { type Json, toObjects, toText } from './json.ts'

/** The names of the tools that a request offers, in any provider's form. */
export function toolNamesOf({ tools }: Json): string[] {
  return toObjects(tools)
    .flatMap(tool => toObjects(tool['functionDeclarations'] ?? [tool['function'] ?? tool]))
    .map(tool => toText(tool['name']))
}
