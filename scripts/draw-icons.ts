import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { initWasm, Resvg } from '@resvg/resvg-wasm'

/* This script draws the icons of the installed page from its favicon. Run it where the favicon changes. */

const web = join(import.meta.dirname, '..', 'hub', 'web')
const flower = readFileSync(join(web, 'favicon.svg'), 'utf8').replace(/<\/?svg[^>]*>/g, '')

await initWasm(readFileSync(createRequire(import.meta.url).resolve('@resvg/resvg-wasm/index_bg.wasm')))
draw('icon-192.png', { size: 192, scale: 0.94 })
draw('icon-512.png', { size: 512, scale: 0.94 })
// A launcher may cut away all beyond the middle four fifths, and iOS shows transparency as black.
draw('icon-maskable.png', { size: 512, scale: 0.6, ground: '#f3f5ee' })
draw('apple-touch-icon.png', { size: 180, scale: 0.75, ground: '#f3f5ee' })

function draw(name: string, { size, scale, ground }: { size: number; scale: number; ground?: string }): void {
  const offset = 16 * (1 - scale)
  const rect = ground === undefined ? '' : `<rect width="32" height="32" fill="${ground}"/>`
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 32 32">${rect}<g transform="translate(${offset} ${offset}) scale(${scale})">${flower}</g></svg>`
  writeFileSync(join(web, name), new Resvg(svg).render().asPng())
}
