#!/usr/bin/env node
// This file starts the program: from TypeScript sources in a checkout, from built JavaScript in a package.
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { runScript } from './node.js'

const source = fileURLToPath(new URL('../hub/cli/superbloom.ts', import.meta.url))
const built = fileURLToPath(new URL('../dist/hub/cli/superbloom.js', import.meta.url))
// Node does not strip types below node_modules.
const inPackage = /[\\/]node_modules[\\/]/.test(source)

const isSource = !inPackage && existsSync(source)

// Without the cache, each start would strip the first file again. The built program decides for itself.
if (isSource) module.enableCompileCache?.()
await runScript(isSource ? source : built, process.argv.slice(2))
