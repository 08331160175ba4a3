import { z } from 'zod'
import { requireAccess } from '../../kit/access.ts'
import { sleep } from '../../kit/clock.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { pickInstance } from '../../kit/instances.ts'
import type { Report } from '../../kit/progress.ts'
import { quote, toPercentText } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { jellyfinSpec } from '../config.ts'
import {
  type Jellyfin,
  readLibraries,
  readScanProgress,
  type ScanProgress,
  scan,
} from '../upstreams/jellyfin/jellyfin.ts'
import type { Library } from '../upstreams/jellyfin/shapes.ts'
import type { Media } from '../upstreams/upstreams.ts'
import { CHANGE, instanceField, titleOutput } from './common.ts'

const SECOND = 1000
const PROBE_EVERY = 2 * SECOND
/**
 * Number of probes without a running scan after which it counts as finished: a scan does not begin at once.
 */
const QUIET_PROBES = 2

const input = z.strictObject({
  library: z.string().trim().min(1).max(100).optional().describe('default: all'),
  waitSeconds: z.int().min(0).max(900).default(15).describe('the scan goes on either way'),
  instance: instanceField,
})

const output = z.object({
  instance: z.string(),
  library: titleOutput.optional().describe('absent: all libraries'),
  state: z.enum(['finished', 'running']).describe('running: it was begun and goes on'),
  percent: z.number().optional().describe('how far it is'),
})

/** `refresh_library`: makes Jellyfin scan for new and removed files. */
export function refreshLibrary({ jellyfins, clock }: Media): Tool {
  return defineTool({
    name: 'refresh_library',
    title: 'Refresh library',
    description:
      'Has Jellyfin scan one library, or all, for new and removed files, where something was imported but ' +
      'does not show up. Reads the disks for minutes; deletes nothing from them.',
    annotations: { ...CHANGE, idempotentHint: true },
    input,
    output,
    limit: ({ waitSeconds }) => (waitSeconds + 30) * SECOND,
    async run({ library: name, waitSeconds, instance }, signal, report) {
      const jellyfin = pickInstance(jellyfins, instance, jellyfinSpec)
      requireAccess(jellyfin, 'change')
      const library =
        name === undefined ? undefined : findLibrary(await readLibraries(jellyfin, signal), name)
      const id = library?.ItemId ?? undefined
      // A second request would restart the scan.
      const isScanning = (await readScanProgress(jellyfin, id, signal)).running
      if (!isScanning) await scan(jellyfin, id, signal)
      const follow = { jellyfin, id, probes: Math.ceil((waitSeconds * SECOND) / PROBE_EVERY) }
      const progress = await waitForEnd(follow, ms => sleep(clock, ms, signal), signal, report)
      const percent = progress.running ? progress.percent : 100
      const what = library ? `The library ${quote(library.Name ?? '', 60)}` : 'All libraries'
      const verb = library ? 'is' : 'are'
      const text = progress.running
        ? `${what} ${verb} being scanned${percent === undefined ? '' : `, ${toPercentText(percent)} done`}; the scan goes on by itself.`
        : `${what} ${library ? 'was' : 'were'} scanned.`
      return {
        data: {
          instance: jellyfin.name,
          library: library && (library.Name ?? ''),
          state: progress.running ? ('running' as const) : ('finished' as const),
          percent: percent && Math.round(percent),
        },
        text,
        untrusted: library !== undefined,
      }
    },
  })
}

/** Probes every two seconds until the scan is finished or the time is up. */
async function waitForEnd(
  { jellyfin, id, probes }: { jellyfin: Jellyfin; id: string | undefined; probes: number },
  pause: (milliseconds: number) => Promise<void>,
  signal: AbortSignal,
  report: Report,
): Promise<ScanProgress> {
  let quiet = 0
  let last: ScanProgress = { running: true, percent: undefined }
  for (let probe = 0; probe < probes && quiet < QUIET_PROBES; probe++) {
    await pause(PROBE_EVERY)
    const now = await readScanProgress(jellyfin, id, signal)
    quiet = now.running ? 0 : quiet + 1
    if (now.running || quiet >= QUIET_PROBES) last = now
    if (now.running && now.percent !== undefined) report(now.percent, 100, 'scanning')
  }
  return last
}

function findLibrary(libraries: readonly Library[], name: string): Library {
  const found = libraries.find(one => one.Name?.toLowerCase() === name.toLowerCase())
  if (found?.ItemId) return found
  throw new ToolFailure({
    what: `Jellyfin has no library ${quote(name, 60)}.`,
    where: 'the libraries of Jellyfin',
    why: `it has ${libraries.map(one => quote(one.Name ?? '', 60)).join(', ') || 'none'}`,
    fix: 'Call it again with one of these names, or without a library for all.',
  })
}
