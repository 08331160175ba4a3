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
