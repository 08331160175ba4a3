/** Which tools a connection sees: all, those of a toolset, or only how to find and call them. */
export interface McpView {
  /** `find_tools` and `call_tool` in place of the catalogue. */
  lean: boolean
  /** Its name; undefined for all tools. */
  toolset: string | undefined
}

const WHOLE: McpView = { lean: false, toolset: undefined }

/** Whether all tools are called by their names. */
export function isPlain({ lean, toolset }: McpView): boolean {
  return !lean && toolset === undefined
}

/** The view that an address asks for: `/mcp`, `/mcp/<toolset>`, with `?tools=lean` or without. */
export function toView(url: string): McpView {
  if (url === '/mcp') return WHOLE
  const { pathname, searchParams } = new URL(url, 'http://hub')
  const [, , toolset] = pathname.split('/')
  return {
    lean: searchParams.get('tools') === 'lean',
    toolset: toolset ? decodeURIComponent(toolset) : undefined,
  }
}
