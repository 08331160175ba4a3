import type { Resource, ResourceTemplateType } from '@modelcontextprotocol/server'

/** One kind of the hub's own resources. */
export interface ResourceKind {
  readonly template: ResourceTemplateType
  /** Name of the template's argument. */
  readonly argument: string
  /** Lists the resources in a stable order. */
  list(): Promise<Resource[]>
  /** Returns the content, to be written as JSON; undefined for a URI of another kind. Throws `not_found`. */
  read(uri: string): Promise<object | undefined>
  /** Returns values of the template's argument that begin with `beginning`. */
  complete(beginning: string): Promise<string[]>
}

export const JSON_TYPE = 'application/json'

/** Returns the rest of a URI after `beginning`; undefined for another. Clients may write a slash as %2F. */
export function behind(beginning: string, uri: string): string | undefined {
  return uri.startsWith(beginning) ? uri.slice(beginning.length).replace(/%2f/gi, '/') : undefined
}
