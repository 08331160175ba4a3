#!/usr/bin/env node
// Starts the program: from its TypeScript sources in a checkout, from the built JavaScript in a package.
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { runScript } from './node.js'

const source = fileURLToPath(new URL('../hub/cli/superbloom.ts', import.meta.url))
const built = fileURLToPath(new URL('../dist/hub/cli/superbloom.js', import.meta.url))
// Node strips no types below node_modules.
const inPackage = /[\\/]node_modules[\\/]/.test(source)

const isSource = !inPackage && existsSync(source)

// Else the first file would be stripped at every start; what is built decides for itself.
if (isSource) module.enableCompileCache?.()
await runScript(isSource ? source : built, process.argv.slice(2))
