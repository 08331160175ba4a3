import { Worker } from 'node:worker_threads'
import type { CallToolResult } from '@modelcontextprotocol/client'
import { LONGEST_PICTURE, MOST_PICTURES, pictureTypes } from '../../schemas/picture.ts'
import type { ModelImage } from '../core/model.ts'
import { type Picture, readPicture } from '../core/picture.ts'

/** Pixels of the longer side to which providers scale a larger picture. */
const LONGEST_SIDE = 1_568
/** Pixels of the largest picture that is drawn: they take 200 MB. */
const MOST_PIXELS = 50_000_000
const SCALING_MS = 20_000

/** Returns a result's pictures as large as a model takes them; those that cannot be shown are left out. */
export async function takePictures({ content = [] }: CallToolResult): Promise<ModelImage[]> {
  const found = content.flatMap(block => {
    const known = block.type === 'image' ? readPicture(block.data) : undefined
    return block.type === 'image' && known ? [{ data: block.data, known }] : []
  })
  const fitted = await Promise.all(found.slice(0, MOST_PICTURES).map(({ data, known }) => scale(data, known)))
  return fitted.filter(image => image !== undefined)
}

async function scale(data: string, { mimeType, size }: Picture): Promise<ModelImage | undefined> {
  if (!pictureTypes.some(type => type === mimeType)) return undefined
  if (!size) return data.length <= LONGEST_PICTURE ? { mimeType, data } : undefined
  const { width, height } = size
  const longest = Math.max(width, height)
  if (longest <= LONGEST_SIDE && data.length <= LONGEST_PICTURE) return { mimeType, data }
  if (width * height > MOST_PIXELS) return undefined
  for (const side of [LONGEST_SIDE, LONGEST_SIDE / 2, LONGEST_SIDE / 4]) {
    const factor = Math.min(1, side / longest)
    const [w, h] = [width, height].map(each => Math.max(1, Math.round(each * factor)))
    const href = `data:${mimeType};base64,${data}`
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}"><image href="${href}" width="${w}" height="${h}"/></svg>`
    const scaled = await draw(svg)
    if (scaled === undefined || scaled.length <= LONGEST_PICTURE)
      return scaled === undefined ? undefined : { mimeType: 'image/png', data: scaled }
  }
  return undefined
}

/** Draws in its own thread, so that a large picture does not block the hub; undefined if that fails. */
function draw(svg: string): Promise<string | undefined> {
  const extension = import.meta.filename.endsWith('.ts') ? 'ts' : 'js'
  const worker = new Worker(new URL(`./draw-picture.${extension}`, import.meta.url), {
    workerData: svg,
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  })
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const timer = AbortSignal.timeout(SCALING_MS)
  timer.addEventListener('abort', () => void worker.terminate(), { once: true })
  worker.once('message', (png: string) => resolve(png))
  // A picture that cannot be read ends the thread; the text of the result says that there was one.
  worker.once('error', () => resolve(undefined))
  worker.once('exit', () => resolve(undefined))
  return promise
}
