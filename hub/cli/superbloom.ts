import module from 'node:module'
import v8 from 'node:v8'

// Before anything else is loaded: stripped sources are kept between starts.
module.enableCompileCache()
// V8 would grow its space for young objects while the program loads: 25 MB that an idle hub would hold for ever.
// Once started, `start` lets it grow with the work.
v8.setFlagsFromString('--semi-space-growth-factor=1')
const { run } = await import('./program.ts')
await run(process.argv)
