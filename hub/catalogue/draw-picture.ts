import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { initWasm, Resvg } from '@resvg/resvg-wasm'

// This module is the body of a thread: it draws one SVG and answers with a PNG, base64.
await initWasm(await readFile(createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm')))
const image = new Resvg(String(workerData)).render()
parentPort?.postMessage(Buffer.from(image.asPng()).toString('base64'))
