import { decideRedirect, MOST_REDIRECTS } from '../../core/redirect.ts'

/**
 * Fetches from a provider or a local model server. A redirect that leads elsewhere is not followed, but
 * returned: the request carries the key and what people wrote.
 */
export async function fetchProvider(address: string | URL, init: RequestInit): Promise<Response> {
  for (let url = new URL(address), redirects = 0; ; redirects++) {
    const response = await fetch(url, { ...init, redirect: 'manual' })
    const moved = { status: response.status, location: response.headers.get('location') }
    const next = decideRedirect(init.method ?? 'GET', url, moved)
    if (!next || redirects === MOST_REDIRECTS) return response
    await response.body?.cancel()
    url = next
  }
}
