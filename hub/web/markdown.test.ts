import { describe, expect, test } from 'vitest'
import { closeOpenEnds, toBlocks } from './markdown.ts'

const markup = (text: string) => toBlocks(text).map(block => block.html.trim())

describe('toBlocks', () => {
  test.each([
    ['**bold** text', ['<p><strong>bold</strong> text</p>']],
    ['restart <server-name> now', ['<p>restart &lt;server-name&gt; now</p>']],
    ['<script>alert(1)</script>', ['&lt;script&gt;alert(1)&lt;/script&gt;']],
    ['a<br>b <kbd>Enter</kbd>', ['<p>a<br>b <kbd>Enter</kbd></p>']],
    ['![a cat](https://e.org/cat.png)', ['<p><a href="https://e.org/cat.png">a cat</a></p>']],
    ['### Deep', ['<h2 class="md-h md-h3">Deep</h2>']],
    ['one\ntwo', ['<p>one<br>two</p>']],
    ['one\n\ntwo', ['<p>one</p>', '<p>two</p>']],
  ])('%j', (text, blocks) => {
    expect(markup(text)).toEqual(blocks)
  })

  test('a task list has marks, not boxes to click', () => {
    expect(markup('- [x] done\n- [ ] open').join('')).toMatch(/☑ done[\s\S]*☐ open/)
    expect(markup('- [x] done').join('')).not.toContain('<input')
  })

  test('a text that grows keeps its earlier blocks', () => {
    const short = markup('# Disks\n\nfirst paragraph\n\nsec')
    const long = markup('# Disks\n\nfirst paragraph\n\nsecond paragraph\n\n- a')
    expect(long.slice(0, 2)).toEqual(short.slice(0, 2))
  })
})

describe('a text that is hard to format', () => {
  test.each([
    ['quotes in quotes', '> '.repeat(20_000)],
    ['lists in lists', Array.from({ length: 300 }, (_, n) => `${' '.repeat(n * 2)}- a`).join('\n')],
    ['both', '> - '.repeat(10_000)],
    ['emphasis in emphasis', '*a '.repeat(5_000) + 'b* '.repeat(5_000)],
    ['emphasis without an end', '_a_'.repeat(100_000)],
    ['an address without an end', `${'a'.repeat(300_000)}@`],
    ['spaces', `a${' '.repeat(300_000)}b`],
    ['many paragraphs', `${'a_'.repeat(3_000)}\n\n`.repeat(100)],
  ])('%s: its words are shown, soon', { timeout: 20_000 }, (_name, text) => {
    const shown = markup(`**before**\n\n${text}\n\nafter`)
    expect(shown.at(0)).toBe('<p><strong>before</strong></p>')
    expect(shown.at(-1)).toContain('after')
    const letters = (html: string) => html.replaceAll(/<[^>]*>|&gt;|[^a-z]/g, '').length
    expect(letters(shown.join(''))).toBe(letters(`before${text}after`))
  })

  test('its lines stay, and nothing of it is markup', () => {
    expect(markup(`${'> '.repeat(30)}<b>one</b>`).join('')).toContain('&gt; &lt;b&gt;one&lt;/b&gt;')
    expect(markup(`${'a'.repeat(9_000)}\n<b>two</b>`)).toEqual([
      `<p>${'a'.repeat(9_000)}<br>&lt;b&gt;two&lt;/b&gt;</p>`,
    ])
  })

  test('a long text of usual paragraphs is formatted to its end', () => {
    const paragraph = `${'some **bold** words and `code` '.repeat(16)}\n\n`
    expect(markup(paragraph.repeat(200)).at(-1)).toContain('<strong>bold</strong>')
  })
})

describe('closeOpenEnds', () => {
  test.each([
    ['the **disk', 'the **disk**'],
    ['the **disk**', 'the **disk**'],
    ['the **', 'the '],
    ['run `top', 'run `top`'],
    ['see [the docs](https://exa', 'see the docs'],
    ['see [the docs](https://e.org)', 'see [the docs](https://e.org)'],
    ['see [the do', 'see the do'],
    ['done **one**\n\nthen **two', 'done **one**\n\nthen **two**'],
    ['```sh\necho "**', '```sh\necho "**'],
    ['plain', 'plain'],
  ])('%j', (text, closed) => {
    expect(closeOpenEnds(text)).toBe(closed)
  })
})
