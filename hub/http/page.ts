import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import compression from 'compression'
import express, { type RequestHandler, Router } from 'express'

/** Packages that the page imports where it is not bundled, by the name under /vendor, as files of their packages. */
const VENDOR: Readonly<Record<string, string>> = {
  'preact.js': 'preact/dist/preact.mjs',
  'preact-hooks.js': 'preact/hooks/dist/hooks.mjs',
  'htm.js': 'htm/dist/htm.module.js',
  'marked.js': 'marked/lib/marked.esm.js',
  'purify.js': 'dompurify/dist/purify.es.mjs',
  'uplot.js': 'uplot/dist/uPlot.esm.js',
}

/** Bundled files have names that change with what they hold. */
const BUNDLED = /^\/assets\//

/**
 * Serves the page from its folder, with a policy under which only the hub's own code runs: a bundle, or in a checkout
 * the sources as they are.
 */
export function createPage(folder: string): RequestHandler {
  const index = readFileSync(join(folder, 'index.html'), 'utf8')
  const scripts = hashScripts(index)
  const router = Router()
  router.use(compression())
  router.use((request, response, next) => {
    response.set({
      'Content-Security-Policy': toPolicy(scripts, request.headers.host),
      // Over http, browsers look up the hosts of links before anybody follows one.
      'X-DNS-Prefetch-Control': 'off',
      'X-Frame-Options': 'DENY',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cache-Control': BUNDLED.test(request.path) ? 'public, max-age=31536000, immutable' : 'no-cache',
    })
    next()
  })
  router.get('/', (_request, response) => void response.type('html').set('ETag', toTag(index)).send(index))
  for (const [name, file] of Object.entries(VENDOR)) {
    router.get(`/vendor/${name}`, (_request, response) => {
      response.type('js').sendFile(resolvePackageFile(file), { cacheControl: false, dotfiles: 'allow' })
    })
  }
  router.get(/^((?:\/[a-z-]+)+)\.[jt]s$/, (request, response, next) => {
    const source = join(folder, `${request.params[0]}.ts`)
    if (!existsSync(source)) return next()
    const code = stripTypes(readFileSync(source, 'utf8'))
    response.type('js').set('ETag', toTag(code)).send(code)
  })
  const files = express.static(folder, { index: false, cacheControl: false })
  router.use((request, response, next) => {
    // A checkout has tests beside the modules.
    if (request.path.endsWith('.ts')) return next()
    return files(request, response, next)
  })
  return router
}

function toTag(text: string): string {
  return `"${hash('sha256', text, 'base64url')}"`
}

/**
 * Strips types as Node does when it imports a module. Unlike an import, its first call would print that the function
 * is experimental.
 */
function stripTypes(source: string): string {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}

function hashScripts(html: string): string {
  const inline = [...html.matchAll(/<script(?: type="importmap")?>([\s\S]*?)<\/script>/g)]
  return inline.map(match => `'sha256-${hash('sha256', match[1] ?? '', 'base64')}'`).join(' ')
}

/** Returns the policy of the page at a `Host`, which names the hub's own origin and nothing else. */
function toPolicy(scripts: string, given: string | undefined): string {
  const host = URL.parse(`http://${given}`)?.host ?? ''
  return [
    "default-src 'none'",
    `script-src 'self' ${scripts}`,
    "style-src 'self'",
    "img-src 'self' data:",
    // Older browsers do not count a WebSocket at the same host as 'self'.
    `connect-src 'self' ws://${host} wss://${host}`,
    "font-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** Returns the path of an installed package's file, wherever npm put the package. */
function resolvePackageFile(path: string): string {
  const [name = ''] = path.split('/')
  const searched = createRequire(import.meta.url).resolve.paths(name) ?? []
  const root = searched.map(folder => join(folder, name)).find(existsSync)
  if (!root) throw new Error(`The package ${name} is not installed`)
  return join(dirname(root), path)
}
