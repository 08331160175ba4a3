import type { FileEntry } from '../../schemas/files.ts'

export type Files = ReturnType<typeof createFiles>

/** Sends files to the hub and fetches them. Both reject with words for a person. */
export function createFiles(token: string) {
  const request = async (path: string, init: RequestInit) => {
    const headers = { ...init.headers, Authorization: `Bearer ${token}` }
    const url = new URL(path, document.baseURI)
    const response = await fetch(url, { ...init, headers }).catch(cause => {
      throw new Error('The hub cannot be reached.', { cause })
    })
    if (response.ok) return response
    const answer: { error?: { message?: string } } = await response.json().catch(() => ({}))
    throw new Error(answer.error?.message ?? `The hub answered with status ${response.status}.`)
  }
  return {
    async send(file: File): Promise<FileEntry> {
      const headers = {
        'X-File-Name': encodeURIComponent(file.name),
        'Content-Type': 'application/octet-stream',
      }
      return (await request('./files', { method: 'POST', headers, body: file })).json()
    },
    /** Saves a file of a message where the browser puts downloads. */
    async save({ id, name }: FileEntry) {
      const blob = await (await request(`./files/${encodeURIComponent(id)}`, {})).blob()
      const link = document.createElement('a')
      link.href = URL.createObjectURL(blob)
      link.download = name
      link.click()
      URL.revokeObjectURL(link.href)
    },
  }
}
