// Adds up the JSON reports of vitest in a folder. A run without any test counts as a failure.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.argv[2] ?? '.'
const reports = readdirSync(folder).map(name => JSON.parse(readFileSync(join(folder, name), 'utf8')))
const sum = key => reports.reduce((total, report) => total + report[key], 0)

const passed = sum('numPassedTests')
const failed = sum('numFailedTests')
process.exitCode = passed === 0 || failed > 0 ? 1 : 0
process.stdout.write(`${passed} passed, ${failed} failed\n`)
