import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { writeSbom } from './sbom.ts'

/*
 * This script makes dist/: the JavaScript of hub/, servers/ and schemas/, the page as one bundle, what all is made
 * of, and other files.
 */

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')

/** Files that index.html names as they are. */
const STATIC = ['favicon.svg', 'manifest.webmanifest', 'theme-boot.js']
/** Files that only an installed page shows. */
const ICONS = ['icon-192.png', 'icon-512.png', 'icon-maskable.png', 'apple-touch-icon.png']
/** By the map, browsers find the packages that the sources import; the bundle holds them. */
const IMPORT_MAP = /\s*<script type="importmap">.*<\/script>/

rmSync(dist, { recursive: true, force: true })
await bundlePage()
cpSync(join(root, 'hub/upstream/drop-in-loader.mjs'), join(dist, 'hub/upstream/drop-in-loader.mjs'))
writeSbom(root, dist)
// The program is compiled last, and all of it or nothing is emitted: where it exists, the rest does too.
const isBuilt = compile('tsconfig.page.json') && compile('tsconfig.build.json')
process.exitCode = isBuilt ? 0 : 1

function compile(project: string): boolean {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const args = [compiler, '-p', project, '--rootDir', '.']
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status === 0
}

/** Bundles the page: a script and a stylesheet whose names change with what they hold, beside the static files. */
async function bundlePage(): Promise<void> {
  const web = join(root, 'hub/web')
  const outDir = join(dist, 'hub/web')
  await build({
    root: web,
    base: './',
    configFile: false,
    logLevel: 'warn',
    plugins: [{ name: 'bare-imports', transformIndexHtml: html => html.replace(IMPORT_MAP, '') }],
    build: { outDir, emptyOutDir: false, assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  })
  for (const name of [...STATIC, ...ICONS]) cpSync(join(web, name), join(outDir, name))
  const files = [
    'index.html',
    ...STATIC,
    ...readdirSync(join(outDir, 'assets')).map(name => `assets/${name}`),
  ]
  const version = hash('sha256', files.map(file => hash('sha256', readFileSync(join(outDir, file)))).join())
  const shell = {
    name: version.slice(0, 16),
    files: files.map(file => `./${file}`.replace('index.html', '')),
  }
  const worker = readFileSync(join(web, 'service-worker.js'), 'utf8')
  writeFileSync(join(outDir, 'service-worker.js'), `self.shell = ${JSON.stringify(shell)}\n${worker}`)
}
