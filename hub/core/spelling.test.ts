import { expect, test } from 'vitest'
import { findNearest } from './spelling.ts'

const VOCABULARY = ['download', 'downloads', 'disk', 'dish', 'notification', 'player', 'prayer']

test.each([
  ['downlaod', ['download']],
  ['dowlnoads', ['downloads']],
  ['downloa', ['download']],
  ['notifikasion', ['notification']],
  ['notifcaton', ['notification']],
  ['notifkasoin', []],
  ['plaayer', ['player']],
  ['pxayer', ['player', 'prayer']],
  ['dizk', ['disk']],
  ['dsk', []],
  ['', []],
])('%s means %j', (word, meant) => {
  expect(findNearest(word, VOCABULARY)).toEqual(meant)
})
