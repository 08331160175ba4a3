/** The tools that a connection sees: all, those of a toolset, or only those that find and call them. */
export interface McpView {
  /** Whether `find_tools` and `call_tool` replace the catalogue. */
  lean: boolean
  /** Name of the toolset; undefined for all tools. */
  toolset: string | undefined
}

const WHOLE: McpView = { lean: false, toolset: undefined }

/** Tells whether the view has all tools, called by their names. */
export function isPlain({ lean, toolset }: McpView): boolean {
  return !lean && toolset === undefined
}

/** Returns the view that an address asks for: `/mcp`, `/mcp/<toolset>`, with `?tools=lean` or without. */
export function toView(url: string): McpView {
  if (url === '/mcp') return WHOLE
  const { pathname, searchParams } = new URL(url, 'http://hub')
  const [, , toolset] = pathname.split('/')
  return {
    lean: searchParams.get('tools') === 'lean',
    toolset: toolset ? decodeURIComponent(toolset) : undefined,
  }
}
