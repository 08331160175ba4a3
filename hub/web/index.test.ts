import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const WEB = import.meta.dirname
const page = readFileSync(join(WEB, 'index.html'), 'utf8')
const files = readdirSync(WEB, { recursive: true, encoding: 'utf8' })
const sources = files.filter(file => file.endsWith('.js'))
const read = (file: string) => readFileSync(join(WEB, file), 'utf8')
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
    expect(named.filter(file => !existsSync(join(WEB, file)))).toEqual([])
  })

  test.each(sources)('%s imports only files of the page and what the import map names', file => {
    const specifiers = [...read(file).matchAll(/^(?:import|export)[^'"]*from '([^']+)'/gm)].map(
      match => match[1] ?? '',
    )
    const bare = specifiers.filter(specifier => !specifier.startsWith('.'))
    const missing = specifiers.filter(
      specifier => specifier.startsWith('.') && !existsSync(join(WEB, file, '..', specifier)),
    )
    expect(bare.filter(specifier => !(specifier in importMap.imports))).toEqual([])
    expect(missing).toEqual([])
  })
})

test.each(sources)('%s names the shape of everything it takes', file => {
  const comments = read(file).match(/\/\*\*[\s\S]*?\*\//g) ?? []
  expect(comments.filter(comment => /[{<([|:,]\s*any\b/.test(comment))).toEqual([])
})
