import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import express, { type RequestHandler, Router } from 'express'

/** Modules that the page imports, by the name under /vendor, as files of their packages. */
const VENDOR: Readonly<Record<string, string>> = {
  'preact.js': 'preact/dist/preact.mjs',
  'preact-hooks.js': 'preact/hooks/dist/hooks.mjs',
  'htm.js': 'htm/dist/htm.module.js',
  'marked.js': 'marked/lib/marked.esm.js',
  'purify.js': 'dompurify/dist/purify.es.mjs',
}

/** Serves the page from its folder, with a policy under which only the hub's own code runs. */
export function createPage(folder: string): RequestHandler {
  const index = readFileSync(join(folder, 'index.html'), 'utf8')
  const policy = toPolicy(index)
  const router = Router()
  router.use((_request, response, next) => {
    response.set({
      'Content-Security-Policy': policy,
      'X-Frame-Options': 'DENY',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cache-Control': 'no-cache',
    })
    next()
  })
  router.get('/', (_request, response) => void response.type('html').send(index))
  for (const [name, file] of Object.entries(VENDOR)) {
    router.get(`/vendor/${name}`, (_request, response) => {
      response.type('js').sendFile(resolvePackageFile(file), { cacheControl: false, dotfiles: 'allow' })
    })
  }
  const files = express.static(folder, { index: false, cacheControl: false })
  router.use((request, response, next) => {
    // A checkout has tests and types beside the modules.
    if (request.path.endsWith('.ts')) return next()
    return files(request, response, next)
  })
  return router
}

function toPolicy(html: string): string {
  const inline = [...html.matchAll(/<script(?: type="importmap")?>([\s\S]*?)<\/script>/g)].map(match => {
    return `'sha256-${hash('sha256', match[1] ?? '', 'base64')}'`
  })
  return [
    "default-src 'none'",
    `script-src 'self' ${inline.join(' ')}`,
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self' ws: wss:",
    "font-src 'self'",
    "manifest-src 'self'",
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
