import { parentPort, workerData } from 'node:worker_threads'
import { extractText, getDocumentProxy } from 'unpdf'

// This module is the body of a thread: it reads the text of one PDF and answers with its pages.
const document = await getDocumentProxy(workerData as Uint8Array, { verbosity: 0 })
const { text } = await extractText(document)
parentPort?.postMessage(text)
