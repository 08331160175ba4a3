// Loaded before the hub. At its end it writes to RECORD_IMPORTS which modules the hub's own files import, in
// order.
import { writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const imports = new Set()

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context)
    const isOwn = url => url?.startsWith('file:') && !url.includes('/node_modules/')
    if (isOwn(context.parentURL) && !isOwn(resolved.url)) imports.add(resolved.url)
    return resolved
  },
})
process.on('exit', () => writeFileSync(process.env.RECORD_IMPORTS, JSON.stringify([...imports])))
