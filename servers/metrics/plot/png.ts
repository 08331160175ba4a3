import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** The renderer; its memory belongs to the process and can be set up only once in it. */
let loaded: ReturnType<typeof load> | undefined

/**
 * Renders the picture as PNG, base64. The renderer is loaded at the first call, and with it its only font.
 */
export async function toPng(svg: string): Promise<string> {
  loaded ??= load().catch(error => {
    loaded = undefined
    throw error
  })
  const { Resvg, font } = await loaded
  const renderer = new Resvg(svg, { font: { fontBuffers: [font], defaultFontFamily: 'PT Mono' } })
  try {
    const image = renderer.render()
    const png = Buffer.from(image.asPng()).toString('base64')
    image.free()
    return png
  } finally {
    renderer.free()
  }
}

async function load() {
  const { initWasm, Resvg } = await import('@resvg/resvg-wasm')
  await initWasm(await readFile(require.resolve('@resvg/resvg-wasm/index_bg.wasm')))
  const font = await readFile(require.resolve('@expo-google-fonts/pt-mono/400Regular/PTMono_400Regular.ttf'))
  return { Resvg, font }
}
