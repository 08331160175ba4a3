import { extractText, getDocumentProxy } from 'unpdf'

// This module is a process of its own: it reads the text of one PDF and answers with its pages.
process.once('message', async (bytes: Uint8Array) => {
  const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 })
  const { text } = await extractText(document)
  process.send?.(text, () => process.exit())
})
