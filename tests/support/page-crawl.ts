/** A file of the page as it was served. */
export interface Served {
  path: string
  status: number
  type: string
}

/** Fetches the page and everything that it and its scripts refer to, as a browser would. */
export async function crawlPage(url: string): Promise<{ html: string; files: Served[] }> {
  const html = await (await fetch(url)).text()
  const map = JSON.parse(/<script type="importmap">([^<]+)/.exec(html)?.[1] ?? '{}') as {
    imports?: Record<string, string>
  }
  const imports = map.imports ?? {}
  const open = [...html.matchAll(/(?:src|href)="(\.\/[^"]+)"/g)].map(
    match => new URL(match[1] ?? '', url).href,
  )
  const files = new Map<string, Served>()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (files.has(next)) continue
    const response = await fetch(next)
    const type = response.headers.get('content-type') ?? ''
    const text = await response.text()
    files.set(next, { path: new URL(next).pathname, status: response.status, type })
    if (type.includes('javascript')) open.push(...importsOf(withoutComments(text), next, imports, url))
  }
  return { html, files: [...files.values()] }
}

function importsOf(text: string, from: string, imports: Record<string, string>, page: string): string[] {
  const specifiers = [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*["']([^"'\s]+)["']/g)].map(
    match => match[1] ?? '',
  )
  return specifiers.flatMap(specifier => {
    const mapped = imports[specifier]
    if (mapped !== undefined) return [new URL(mapped, page).href]
    return /^\.{0,2}\//.test(specifier) ? [new URL(specifier, from).href] : []
  })
}

/** Removes comments: JSDoc refers to types by imports that no browser makes. */
function withoutComments(script: string): string {
  return script.replace(/\/\*\*[\s\S]*?\*\//g, '')
}
