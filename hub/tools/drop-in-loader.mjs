// Loaded into dropped-in servers: a bare import that their own folder does not have comes from the hub's packages.
import { registerHooks } from 'node:module'

registerHooks({
  resolve(specifier, context, next) {
    try {
      return next(specifier, context)
    } catch (error) {
      const bare = !/^(?:\.{0,2}\/|[a-z]+:)/.test(specifier)
      if (!bare || error?.code !== 'ERR_MODULE_NOT_FOUND') throw error
      return next(specifier, { ...context, parentURL: import.meta.url })
    }
  },
})
