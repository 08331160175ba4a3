import module from 'node:module'
import v8 from 'node:v8'

// Before anything else is loaded: stripped sources are kept between starts.
module.enableCompileCache()
// V8 grows its space for young objects while a program loads and never gives it back: 25 MB that an idle hub would hold.
v8.setFlagsFromString('--semi-space-growth-factor=1')
const { run } = await import('./program.ts')
await run(process.argv)
