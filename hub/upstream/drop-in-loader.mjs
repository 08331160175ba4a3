// Resolves a bare import of a dropped-in server that its own folder does not have from the hub's packages.
import { registerHooks } from 'node:module'

registerHooks({
  resolve(specifier, context, next) {
    try {
      return next(specifier, context)
    } catch (error) {
      const bare = !/^(?:\.{0,2}\/|[a-z]+:)/.test(specifier)
      if (!bare || error?.code !== 'ERR_MODULE_NOT_FOUND') throw error
      try {
        return next(specifier, { ...context, parentURL: import.meta.url })
      } catch {
        // The first error is thrown, because it names the file that imports it.
        throw error
      }
    }
  },
})
