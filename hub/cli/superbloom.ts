import module from 'node:module'
import v8 from 'node:v8'

// Before anything else is loaded: stripped sources are kept between starts, and short commands begin sooner. A built hub
// would begin 50 ms sooner, once, and hold the 5 MB of what was kept for as long as it runs.
const isBuilt = import.meta.filename.endsWith('.js')
if (!isBuilt || process.argv[2] !== 'start') module.enableCompileCache()
// V8 would grow its space for young objects while the program loads: 25 MB that an idle hub would hold for ever.
// Once started, `start` lets it grow with the work.
v8.setFlagsFromString('--semi-space-growth-factor=1')
// One optimizing compiler instead of two, and that one sooner: calls and turns are as fast, and after some thousand of them
// the hub holds 15 MB less. Where there are two, the second waits for 10,000 runs of a function.
v8.setFlagsFromString('--no-maglev')
v8.setFlagsFromString('--invocation-count-for-turbofan=1000')
const { run } = await import('./program.ts')
await run(process.argv)
