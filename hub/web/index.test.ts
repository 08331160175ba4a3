import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const WEB = import.meta.dirname
const page = readFileSync(join(WEB, 'index.html'), 'utf8')
const files = readdirSync(WEB, { recursive: true, encoding: 'utf8' })
const sources = files.filter(file => /(?<!\.test)\.[jt]s$/.test(file))
const read = (file: string) => readFileSync(join(WEB, file), 'utf8')
/** Returns the source of what the page calls JavaScript. */
const toSource = (file: string) => file.replace(/\.js$/, '.ts')
const importMap = JSON.parse(/<script type="importmap">(.*?)<\/script>/s.exec(page)?.[1] ?? '{}')

describe('under the content security policy', () => {
  test('the import map is the only inline script, and nothing else is inline', () => {
    const inline = [...page.matchAll(/<script(?![^>]*\ssrc=)[^>]*>/g)].map(match => match[0])
    expect(inline).toEqual(['<script type="importmap">'])
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=/)
  })

  test.each(sources)('%s sets no style attribute', file => {
    expect(read(file)).not.toMatch(/setAttribute\('style'|cssText|innerHTML/)
  })

  test('everything the page names is there', () => {
    const named = [...page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(match => match[1] ?? '')
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter(file => !existsSync(join(WEB, file)) && !sources.includes(toSource(file)))).toEqual(
      [],
    )
  })

  test.each(sources)('%s imports only files of the page and what the import map names', file => {
    // A type's import is stripped, so that it may name a file that no browser gets.
    const specifiers = [...read(file).matchAll(/^(?:import(?! type)|export)[^'"]*from '([^']+)'/gm)].map(
      match => match[1] ?? '',
    )
    const bare = specifiers.filter(specifier => !specifier.startsWith('.'))
    const missing = specifiers.filter(
      specifier => specifier.startsWith('.') && !sources.includes(join(file, '..', specifier)),
    )
    expect(bare.filter(specifier => !(specifier in importMap.imports))).toEqual([])
    expect(missing).toEqual([])
  })
})
