import type { Resource, ResourceTemplateType } from '@modelcontextprotocol/server'

/** One kind of the hub's own resources. */
export interface ResourceKind {
  readonly template: ResourceTemplateType
  /** The template's argument. */
  readonly argument: string
  /** In a stable order. */
  list(): Promise<Resource[]>
  /** What is there, to be written as JSON; undefined for a URI of another kind. Throws `not_found`. */
  read(uri: string): Promise<object | undefined>
  /** Values of the template's argument that begin so. */
  complete(beginning: string): Promise<string[]>
}

export const JSON_TYPE = 'application/json'

/** What stands behind the beginning of a URI; undefined for another one. A client may have written a slash as %2F. */
export function behind(beginning: string, uri: string): string | undefined {
  return uri.startsWith(beginning) ? uri.slice(beginning.length).replace(/%2f/gi, '/') : undefined
}
