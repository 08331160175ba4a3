import v8 from 'node:v8'

// Imported before anything else of a server's process. V8 would grow its space for young objects while the modules are
// loaded, and an idle server would hold those 10 MB for ever; what outlives a call is small, so it needs no more than it has.
v8.setFlagsFromString('--semi-space-growth-factor=1')
