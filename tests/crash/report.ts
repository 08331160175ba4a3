import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/built.ts'
import { describeMachine } from '../support/machine.ts'
import type { Load, Outcome } from './run-point.ts'

/** The rows of one part of the kill matrix. */
export interface Section {
  title: string
  outcomes: Outcome[]
}

const PAGE = join(root, 'docs', 'reliability.md')
const BEGIN = '<!-- results -->'
const END = '<!-- end of results -->'

/** Returns one line for the terminal: the outcome and its problems. */
export function toLine({ name, problems }: Outcome): string {
  return [
    `${problems.length === 0 ? 'ok    ' : 'FAILED'}  ${name}`,
    ...problems.map(one => `          ${one}`),
  ].join('\n')
}

/** Writes the results to docs/reliability.md, with the machine and the day. */
export function writePage(sections: readonly Section[], at: string): void {
  const page = readFileSync(PAGE, 'utf8')
  const [before, rest = ''] = page.split(BEGIN)
  const after = rest.slice(rest.indexOf(END))
  writeFileSync(PAGE, `${before}${BEGIN}\n\n${toTables(sections, at)}\n${after}`)
}

function toTables(sections: readonly Section[], at: string): string {
  const head = `Taken on ${at.slice(0, 10)} on ${describeMachine()}.`
  const tables = sections.map(({ title, outcomes }) => {
    const rows = outcomes.map(({ name, ends, problems }) => {
      return `| ${name} | ${ends} | ${problems.length === 0 ? 'holds' : problems.join('; ')} |`
    })
    return [`### ${title}`, '', '| point | times | result |', '| --- | --- | --- |', ...rows, ''].join('\n')
  })
  return [head, '', ...tables].join('\n')
}

/** Sums many worlds up in one row. */
export function sumUp(outcomes: readonly Outcome[]): Outcome {
  const load = outcomes.map(outcome => outcome.load)
  const sum = (key: keyof Load) => load.reduce((total, one) => total + (one?.[key] ?? 0), 0)
  const what = `${sum('messages')} messages, ${sum('calls')} tool calls (${sum('unknown')} of them cut in their midst), ${sum('wakes')} firings of schedules, ${sum('events')} events, ${sum('compactions')} compactions, ${sum('approvals')} approvals, ${sum('deadLetters')} dead letters`
  return {
    name: `at random times and statements: ${what}`,
    ends: outcomes.reduce((total, { ends }) => total + ends, 0),
    problems: outcomes.flatMap(({ name, problems }) => problems.map(problem => `${name}: ${problem}`)),
  }
}
