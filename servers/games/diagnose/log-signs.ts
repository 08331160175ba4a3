import type { Finding } from '../../kit/render.ts'
import { cleanText, quote, toCountText } from '../../kit/text.ts'

/**
 * Factor for the weight of old log lines if the game is well: they are less likely to be trouble now.
 */
const OLD = 0.55
const MOST = 3
const SHOWN = 2
const WIDTH = 200

/** A sign of trouble in a line of a game's log. */
interface LogSign {
  pattern: RegExp
  finding: string
  /** Probability that it is the cause of trouble: 0 to 100. */
  weight: number
  fix: string
}

/**
 * All signs, the likeliest first. They match logs of Java, Quake, Source and other engines, and the system's
 * own errors.
 */
const LOG_SIGNS: readonly LogSign[] = [
  {
    pattern: /agree to the EULA/i,
    finding: 'It waits until its license terms are accepted.',
    weight: 84,
    fix: 'Read the terms, then set eula=true in eula.txt (or EULA=TRUE for the container), and start it again.',
  },
  {
    pattern: /OutOfMemoryError|Cannot allocate memory|std::bad_alloc|Hunk_Alloc failed|out of memory/i,
    finding: 'It ran out of memory.',
    weight: 83,
    fix: 'Give it more memory (its heap setting, such as -Xmx, and the limit of its container), or less to do.',
  },
  {
    pattern: /address already in use|failed to bind|could ?n[o']t bind|bind failed|EADDRINUSE/i,
    finding: 'Its port is taken by another program.',
    weight: 82,
    fix: 'Find what listens on the port (ss -lptu), and stop that or change the port of one of them.',
  },
  {
    pattern: /no space left on device|ENOSPC|disk (is )?full/i,
    finding: 'Its disk is full.',
    weight: 81,
    fix: 'Free space on the disk that holds its files; old backups and logs first.',
  },
  {
    pattern: /missing or unsupported mandatory dependenc|incompatible mods?|mod .{1,80} requires/i,
    finding: 'Its mods do not fit together.',
    weight: 80,
    fix: 'Add, update or remove the mods that the log names, then start it again.',
  },
  {
    pattern:
      /could ?n[o']t load|unable to access jarfile|could not find or load main class|no such file or directory/i,
    finding: 'A file that it needs is missing.',
    weight: 70,
    fix: 'Look at the path in the log line, and whether the folder is mounted where the game expects it.',
  },
  {
    pattern: /permission denied|EACCES|AccessDeniedException|read-only file system/i,
    finding: 'It may not read or write its own files.',
    weight: 70,
    fix: 'Give the files to the user that the game runs as, and look whether the disk became read-only.',
  },
  {
    pattern: /segmentation fault|SIGSEGV|core dumped|SIGABRT|a fatal error has been detected/i,
    finding: 'The program itself broke.',
    weight: 69,
    fix: 'Update the game, and take out mods or plug-ins that were added last.',
  },
  {
    pattern: /can't keep up|server (is )?overloaded|running \d+ ?ms (or \d+ ticks )?behind/i,
    finding: 'It cannot keep up: its world runs slower than it should.',
    weight: 64,
    fix: 'Lower the view distance or what is loaded, look at what else uses the CPU, or move it to a faster core.',
  },
  {
    pattern: /unhandled exception|uncaught exception|exception in |traceback \(most|\bfatal\b|panic:/i,
    finding: 'It reports errors.',
    weight: 45,
    fix: 'Read the log around these lines (get_game_server_logs).',
  },
]

/** Finds trouble in the last log lines, the likeliest three findings. A line counts for one sign only. */
export function findInLog(log: readonly string[], isWell: boolean): (Finding & { weight: number })[] {
  const bySign = new Map<LogSign, string[]>()
  for (const line of log) {
    const sign = LOG_SIGNS.find(({ pattern }) => pattern.test(line))
    if (sign) bySign.set(sign, [...(bySign.get(sign) ?? []), line])
  }
  return [...bySign]
    .sort(([a], [b]) => b.weight - a.weight)
    .slice(0, MOST)
    .map(([{ finding, weight, fix }, lines]) => ({
      finding,
      evidence: [
        `${toCountText(lines.length, 'line')} of its last ${log.length} in the log, the newest last:`,
        ...lines.slice(-SHOWN).map(line => quote(cleanText(line, WIDTH))),
      ],
      whatToDo: fix,
      weight: Math.round(weight * (isWell ? OLD : 1)),
    }))
}
