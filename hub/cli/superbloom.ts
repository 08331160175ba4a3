import module from 'node:module'
import v8 from 'node:v8'

// The cache is enabled before anything else loads: it keeps stripped sources, so that short commands begin
// sooner. A built hub would begin 50 ms sooner, once, and hold the cache's 5 MB for as long as it runs.
const isBuilt = import.meta.filename.endsWith('.js')
const isStart = process.argv[2] === 'start'
if (!isBuilt || !isStart) module.enableCompileCache()
// V8 would grow its space for young objects while the program loads: 25 MB that an idle hub would hold for
// ever. Once started, `start` lets it grow with the work.
v8.setFlagsFromString('--semi-space-growth-factor=1')
// V8 uses one optimizing compiler instead of two: after some thousand calls the hub holds 15 MB less. The one
// that is left waits for 10,000 runs of a function, which is right while the program loads; `start` lowers
// that.
v8.setFlagsFromString('--no-maglev')
// The hub gives memory back itself at rest; V8 would do so twice more seconds later, for next to nothing. The
// flag comes before V8's first time: V8 ends the process where its count already exceeds the flag.
if (isStart) v8.setFlagsFromString('--memory-reducer-gc-count=0')
const { run } = await import('./program.ts')
await run(process.argv)
