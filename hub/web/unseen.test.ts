import { expect, test } from 'vitest'
import { escapeUnseen as ofTerminal } from '../core/text.ts'
import { escapeUnseen } from './unseen.ts'

test('the page shows what is hidden as the terminal does, for every character', () => {
  const blocks = Array.from({ length: 0x1_10 }, (_, block) =>
    String.fromCodePoint(...Array.from({ length: 0x10_00 }, (_one, index) => block * 0x10_00 + index)),
  )
  for (const text of blocks) expect(escapeUnseen(text)).toBe(ofTerminal(text))
  expect(escapeUnseen('{"path": "/srv/\u202egpj.exe"}')).toBe('{"path": "/srv/\\u202egpj.exe"}')
})
