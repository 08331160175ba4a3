import { cleanText, quote, toCountText } from '../../kit/text.ts'
import type { Facts } from './facts.ts'
import type { Finding } from './finding.ts'
import { LOG_SIGNS, type LogSign } from './log-signs.ts'

/**
 * Factor for the weight of old log lines if the game answers well: they are less likely to be trouble now.
 */
const HEALTHY = 0.55
const MOST = 3
const SHOWN = 2
const WIDTH = 200

/** Finds trouble in the last log lines, the likeliest three findings. A line counts for one sign only. */
export function findLogTrouble({ log, state, status }: Facts): Finding[] {
  if (!log.ok) return []
  const runs = state.ok && state.value.state === 'running'
  const scale = runs && status?.ok ? HEALTHY : 1
  const bySign = new Map<LogSign, string[]>()
  for (const line of log.value) {
    const sign = LOG_SIGNS.find(({ pattern }) => pattern.test(line))
    if (sign) bySign.set(sign, [...(bySign.get(sign) ?? []), line])
  }
  return [...bySign]
    .sort(([a], [b]) => b.weight - a.weight)
    .slice(0, MOST)
    .map(([{ finding, weight, fix }, lines]) => ({
      finding,
      evidence: [
        `${toCountText(lines.length, 'line')} of its last ${log.value.length} in the log, the newest last:`,
        ...lines.slice(-SHOWN).map(line => quote(cleanText(line, WIDTH))),
      ],
      whatToDo: fix,
      weight: Math.round(weight * scale),
    }))
}
