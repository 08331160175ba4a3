import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { startProcessorClock } from '../../../tests/support/processor-clock.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { PIXEL } from '../testing/world.ts'
import { cutBytes, cutCharacters } from './cut.ts'
import { toDiscordMarkdown } from './discord-markdown.ts'
import { toHtml, toPlain } from './markdown.ts'
import { readPicture } from './picture.ts'

const MARKDOWN = `# Disk *full*

The **disk** \`/srv\` is [at 91 %](https://example.org/d) ![plot](https://example.org/p.png) &amp; <b>rising</b>.

- one
- [x] two
  - deep

3. three

> quoted

| a | long |
|---|---|
| 1 | 2 |

\`\`\`sh
ls -l
\`\`\`

---
~~old~~ \\*`

test('Markdown becomes plain text', async () => {
  expect(await toPlain(MARKDOWN)).toBe(`Disk full

The disk /srv is at 91 % (https://example.org/d) plot (https://example.org/p.png) & <b>rising</b>.

- one
- [x] two
  - deep

3. three

> quoted

a  long
1  2

ls -l

---

old *`)
})

test('Markdown becomes HTML of our own elements only', async () => {
  const html = (await toHtml(MARKDOWN)).replaceAll('\n', '')
  expect(html).toContain('<h1>Disk <em>full</em></h1>')
  expect(html).toContain(
    '<strong>disk</strong> <code>/srv</code> is <a href="https://example.org/d">at 91 %</a>',
  )
  expect(html).toContain('&amp; &lt;b&gt;rising&lt;/b&gt;.')
  expect(html).toContain('<ul><li>one</li><li>☑ two<ul><li>deep</li></ul></li></ul>')
  expect(html).toContain('<tr><th>a</th><th>long</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr>')
  expect(html).toContain('<pre><code>ls -l</code></pre>')
})

test.each([
  '<script>alert(1)</script>',
  '[x](javascript:alert(1))',
  '[x](data:text/html;base64,xx)',
  '![x](javascript:alert(1))',
  '<img src=x onerror=alert(1)>',
  '[a](https://x/"onmouseover="alert(1))',
  '<https://x/"><script>alert(1)</script>',
  '`<script>`',
])('nothing of %s runs in a mail', async text => {
  const html = await toHtml(text)
  for (const [tag] of html.matchAll(/<[^>]*>/g)) {
    expect(tag).toMatch(/^<\/?(p|a|code|br|em|strong)( href="(https?:|mailto:)[^"<>]*")?>$/)
  }
})

test('any text becomes HTML without elements of its own', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('', '# ', '- ', '| '),
      async (text, before) => {
        const html = await toHtml(`${before}${text}<script>${text}`)
        expect(html).not.toMatch(/<script/i)
      },
    ),
    { numRuns: 200 },
  )
})

test('Discord keeps its Markdown; what it cannot show is turned', async () => {
  const text = await toDiscordMarkdown(MARKDOWN)
  expect(text).toContain('# Disk *full*')
  expect(text).toContain('[plot](https://example.org/p.png)')
  expect(text).toContain('```\na  long\n1  2\n```')
  expect(text).toContain('———')
})

describe('a cut text', () => {
  test('fits, whatever it is, and says what is missing', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 400 }),
        fc.integer({ min: 120, max: 300 }),
        (text, max) => {
          for (const [cut, size] of [
            [cutCharacters(text, max), (part: string) => part.length],
            [cutBytes(text, max), (part: string) => Buffer.byteLength(part)],
          ] as const) {
            expect(size(cut.text)).toBeLessThanOrEqual(max)
            expect(cut.text.isWellFormed()).toBe(true)
            expect(cut.note === undefined).toBe(cut.text === text)
          }
        },
      ),
    )
  })
})

describe('a picture', () => {
  test.each([
    PIXEL,
    `data:image/png;base64,${PIXEL}`,
    `data:text/html;base64,${PIXEL}`,
    ` ${PIXEL.slice(0, 20)}\n${PIXEL.slice(20)}`,
  ])('is known by its bytes: %s', text => {
    expect(readPicture(text)).toMatchObject({ kind: 'bytes', mimeType: 'image/png', name: 'image.png' })
  })

  test('may be an address', () => {
    expect(readPicture('https://example.org/a.png')).toEqual({
      kind: 'url',
      url: 'https://example.org/a.png',
    })
  })

  test.each([
    ['no base64', 'a picture of a cat'],
    ['nothing', ''],
    ['no picture', btoa('<svg onload="alert(1)">')],
    ['a password', 'https://user:pw@example.org/a.png'],
    ['too large', `${PIXEL}${'A'.repeat(8_000_000)}`],
    ['another protocol', 'file:///etc/passwd'],
  ])('is refused: %s', (_what, text) => {
    expect(() => readPicture(text)).toThrow(ToolFailure)
  })
})

test('no text keeps the server busy, or breaks it, by its brackets and its depth', async () => {
  for (const text of ['![]('.repeat(5000), '>'.repeat(20_000), `${'> '.repeat(9000)}deep`]) {
    const spent = startProcessorClock()
    expect(await toDiscordMarkdown(text)).not.toBe('')
    expect(await toPlain(text)).toContain(text.trim().slice(-4))
    expect(await toHtml(text)).not.toMatch(/<(?!\/?(p|blockquote|pre|code|a)\b)/)
    expect(spent()).toBeLessThan(5000)
  }
})
