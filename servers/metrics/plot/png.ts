import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

type Resvg = typeof import('@resvg/resvg-wasm')

/** The renderer; its memory belongs to the process and can be set up only once in it. */
let loaded: Promise<Resvg> | undefined

/**
 * Renders the picture as PNG, base64. The renderer is loaded at the first call. It has no fonts: draw letters
 * as paths.
 */
export async function toPng(svg: string): Promise<string> {
  loaded ??= load().catch(error => {
    loaded = undefined
    throw error
  })
  const { Resvg } = await loaded
  const renderer = new Resvg(svg)
  try {
    const image = renderer.render()
    const png = Buffer.from(image.asPng()).toString('base64')
    image.free()
    return png
  } finally {
    renderer.free()
  }
}

async function load(): Promise<Resvg> {
  const resvg = await import('@resvg/resvg-wasm')
  const file = createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm')
  await resvg.initWasm(await readFile(file))
  return resvg
}
