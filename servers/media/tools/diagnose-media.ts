import { z } from 'zod'
import { foreignText } from '../../kit/foreign.ts'
import { pickInstance } from '../../kit/instances.ts'
import { quote, toCountText } from '../../kit/text.ts'
import { type DataOf, defineTool, type Tool, type ToolOutcome } from '../../kit/tool.ts'
import { radarrSpec } from '../config.ts'
import { decideStages, STAGES, STATES, type Stage } from '../diagnose/decide.ts'
import { readFacts } from '../diagnose/facts.ts'
import { type Finding, readFindings } from '../diagnose/findings.ts'
import { findSubjects, type Subject } from '../diagnose/subject.ts'
import { readWanted } from '../titles.ts'
import { toTitle } from '../upstreams/arr/queue.ts'
import type { Media } from '../upstreams/upstreams.ts'
import {
  instanceField,
  READ,
  titleField,
  titleOutput,
  toNoneConfigured,
  typeField,
  yearField,
} from './common.ts'

const MARKS: Readonly<Record<Stage['state'], string>> = {
  ok: 'yes',
  stopped: 'STOPPED HERE',
  waiting: 'waiting',
  skipped: 'not needed',
  unknown: 'unknown',
  'not reached': 'not reached',
}

const output = z.object({
  title: titleOutput.optional(),
  year: z.int().optional(),
  stages: z
    .array(
      z.object({
        stage: z.enum(STAGES),
        state: z.enum(STATES),
        detail: foreignText(600),
        fix: z.string().optional(),
      }),
    )
    .describe('with a title: every step from the request to the library, in order'),
  stoppedAt: z.enum(STAGES).optional().describe('absent: it went all the way, or nobody can tell'),
  why: foreignText(600).optional(),
  fix: z.string().optional().describe('what to do'),
  candidates: z
    .array(z.object({ title: titleOutput, year: z.int().optional(), type: z.enum(['movie', 'show']) }))
    .describe('several are called so: ask which is meant, and call again with year or type'),
  findings: z
    .array(z.object({ where: z.string(), problem: foreignText(400), fix: z.string() }))
    .describe('without a title: what is wrong in the whole stack'),
})
type Outcome = ToolOutcome<DataOf<typeof output>>

const input = z.strictObject({
  title: titleField.optional(),
  year: yearField,
  type: typeField,
  instance: instanceField.describe('default: all'),
})

/**
 * `diagnose_media`: finds where a title is stuck between its request and the library, or lists all problems.
 */
export function diagnoseMedia(media: Media): Tool {
  const { clock, timezone } = media
  return defineTool({
    name: 'diagnose_media',
    title: 'Diagnose media',
    description:
      'Why a film or series is not in Jellyfin: follows it from the request over Radarr or Sonarr to the ' +
      'library, and says where it stopped, why, and what to do. Without title it checks the whole stack ' +
      'for problems. For "where is my film".',
    annotations: READ,
    input,
    output,
    limit: 60_000,
    async run({ title, year, type, instance }, signal) {
      const { jellyfins, arrs, seerrs } = media
      if (jellyfins.length + arrs.length + seerrs.length === 0) {
        throw toNoneConfigured(['Jellyfin', 'Radarr', 'Sonarr', 'Seerr'], 'there is nothing to look at')
      }
      if (title === undefined) return toFindingsOutcome(await readFindings(media, signal))
      const named = { ...radarrSpec, title: 'Radarr or Sonarr' }
      const picked = instance === undefined ? arrs : [pickInstance(arrs, instance, named)]
      const subjects = await findSubjects(picked, readWanted(title, year), type, signal)
      const [subject] = subjects
      if (!subject || subjects.length > 1) return toChoice(title, subjects)
      const facts = await readFacts(media, subject, signal)
      return toOutcome(subject, decideStages(facts, clock.now(), timezone()))
    },
  })
}

function toChoice(title: string, subjects: readonly Subject[]): Outcome {
  const candidates = subjects.map(({ title, type = 'movie', year }) => ({ title, type, year }))
  const lines = candidates.map(
    one => `${quote(toTitle(one.title, one.year))} (${one.type === 'movie' ? 'film' : 'series'})`,
  )
  return {
    data: { stages: [], candidates, findings: [] },
    text: [
      `${quote(title)} may be one of ${toCountText(subjects.length, 'title')}:`,
      lines,
      'Ask which is meant, then call it again with its full title, year or type.',
    ],
  }
}

function toOutcome(subject: Subject, stages: Stage[]): Outcome {
  const { title, year } = subject
  const stopped = stages.find(one => one.state === 'stopped' || one.state === 'waiting')
  const isThere = stages.at(-1)?.state === 'ok'
  const name = quote(toTitle(title, year))
  const verdict = stopped
    ? `${name} ${stopped.state === 'waiting' ? 'is on its way, and stands' : 'stopped'} at "${stopped.stage}": ${stopped.detail}.`
    : isThere
      ? `${name} is in Jellyfin.`
      : `Nobody can tell where ${name} stands, since not all could be asked.`
  return {
    data: {
      title,
      year: year || undefined,
      stages,
      stoppedAt: stopped?.stage,
      why: stopped?.detail,
      fix: stopped?.fix,
      candidates: [],
      findings: [],
    },
    text: [
      verdict,
      stopped?.fix && `What to do: ${stopped.fix}`,
      stages.map(toStageLine),
      stages.some(one => one.state === 'unknown') && 'Of what is unknown, nothing is claimed.',
    ],
  }
}

function toStageLine({ stage, state, detail }: Stage): string {
  return `- ${stage}: ${MARKS[state]}${state === 'not reached' ? '' : ` (${detail})`}`
}

function toFindingsOutcome(findings: Finding[]): Outcome {
  const lines = findings.map(({ where, problem, fix }) => `- ${where}: ${problem}. ${fix}`)
  const head =
    findings.length > 0
      ? `${toCountText(findings.length, 'problem')} in the media stack:`
      : 'Nothing is wrong that Jellyfin, Radarr, Sonarr or Seerr know of.'
  return {
    data: { stages: [], candidates: [], findings },
    text: [head, lines],
    untrusted: findings.length > 0,
  }
}
