import module from 'node:module'

// Before anything else is loaded: stripped sources are kept between starts.
module.enableCompileCache()
const { run } = await import('./program.ts')
await run(process.argv)
