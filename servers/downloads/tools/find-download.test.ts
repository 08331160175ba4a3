import { expect, test } from 'vitest'
import { decideFit } from './find-download.ts'

const items = [
  { id: 'a1', name: 'Lab.Show.S01E01.1080p' },
  { id: 'a2', name: 'Lab.Show.S01E02.1080p' },
  { id: 'a3', name: 'Lab_Film (2026)' },
  { id: 'a4', name: 'Lab Film 2026 Extras' },
  { id: 'SAB_1', name: 'ubuntu-26.04-desktop.iso' },
  { id: 'a5', name: '映画 2026' },
]

test.each([
  ['sab_1', ['SAB_1']],
  ['Lab.Show.S01E01.1080p', ['a1']],
  ['lab film 2026', ['a3']],
  ['film', ['a3', 'a4']],
  ['show s01e02', ['a2']],
  ['1080p s01e01', ['a1']],
  ['ubun', ['SAB_1']],
  ['extras', ['a4']],
  ['映画', ['a5']],
  ['nothing', []],
  ['...', []],
])('%s means %j', (wanted, ids) => {
  expect(decideFit(items, wanted, item => item).map(({ id }) => id)).toEqual(ids)
})
