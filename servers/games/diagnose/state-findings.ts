import { toAgeText, toSpanText } from '../../kit/text.ts'
import type { BackendState } from '../game.ts'
import type { Facts } from './facts.ts'
import type { Finding } from './finding.ts'

/** Number of restarts from which they count as a loop. */
const LOOP = 3
/** Exit codes that may come from a requested end: 0, and those of SIGINT, SIGKILL and SIGTERM in a shell. */
const ASKED = new Map([
  [0, 'it ended in order'],
  [130, 'ended by SIGINT'],
  [137, 'killed: it did not stop in time, or was too large'],
  [143, 'ended by SIGTERM, as a stop does'],
])

/** Finds trouble in the state of the backend and of the query. */
export function findStateTrouble(facts: Facts): Finding[] {
  const { state } = facts
  if (!state.ok) return findSilence(facts)
  const { value } = state
  if (value.state === 'missing') return [missing(facts, value)]
  if (value.state === 'stopped' || value.state === 'failed')
    return [ended(facts, value), ...restarts(facts, value)]
  return [...memoryEnd(facts, value), ...restarts(facts, value), ...findSilence(facts), ...unhealthy(value)]
}

function missing({ game }: Facts, { detail }: BackendState): Finding {
  return {
    finding: `There is no ${game.backend.where}.`,
    evidence: [detail],
    whatToDo:
      'Create it anew where it was defined (such as docker compose up -d), or correct its name in the settings.',
    weight: 100,
  }
}

function ended(facts: Facts, state: BackendState): Finding {
  const { exitCode, stoppedAt, detail } = state
  const [memory] = memoryEnd(facts, state)
  if (memory) return memory
  const known = exitCode === undefined ? undefined : ASKED.get(exitCode)
  const when = stoppedAt === undefined ? [] : [`It ended ${toAgeText(stoppedAt, facts.now)}.`]
  const code = exitCode === undefined ? [] : [`Its exit code was ${exitCode}${known ? ` (${known})` : ''}.`]
  if (state.state === 'failed') {
    return {
      finding: 'It crashed.',
      evidence: [...code, ...when, detail],
      whatToDo:
        'Read what it logged last (get_game_server_logs), mend that, then start it (start_game_server).',
      weight: 90,
    }
  }
  return {
    finding: 'It is stopped.',
    evidence: [...code, ...when, detail],
    whatToDo: 'Start it (start_game_server), unless it was stopped on purpose.',
    weight: 86,
  }
}

function memoryEnd({ now }: Facts, { oom, stoppedAt, exitCode }: BackendState): Finding[] {
  if (!oom) return []
  const when = stoppedAt === undefined ? '' : ` ${toAgeText(stoppedAt, now)}`
  return [
    {
      finding: 'The system ended it for using too much memory.',
      evidence: [`Out of memory${when}${exitCode === undefined ? '' : `, exit code ${exitCode}`}.`],
      whatToDo:
        'Raise the memory limit of its container or unit, or lower what the game may take (its heap, its view distance, its mods).',
      weight: 95,
    },
  ]
}

function restarts(_facts: Facts, { restarts = 0, exitCode }: BackendState): Finding[] {
  if (restarts === 0) return []
  const often = restarts >= LOOP
  return [
    {
      finding: often ? 'It keeps ending and is started again and again.' : 'It was started again by itself.',
      evidence: [
        `It was started anew ${restarts === 1 ? 'once' : `${restarts} times`} by itself.`,
        ...(exitCode === undefined ? [] : [`The last time it had ended with exit code ${exitCode}.`]),
      ],
      whatToDo: 'Look in its log (get_game_server_logs) for why it ended.',
      weight: often ? 85 : 35,
    },
  ]
}

/** Explains why the game does not answer: it is still starting, its query is wrong, or it hangs. */
function findSilence({ game, now, state, status }: Facts): Finding[] {
  if (!status) return [noQuery(game.name)]
  if (status.ok) return []
  if (status.settings) {
    return [
      {
        finding: 'Its query cannot work as it is set up.',
        evidence: [status.why],
        whatToDo: 'Correct the type, host and port of its query in the settings.',
        weight: 78,
      },
    ]
  }
  const startedAt = state.ok ? state.value.startedAt : undefined
  const up = startedAt === undefined ? undefined : (now - startedAt) / 1000
  const since = up === undefined ? [] : [`It has run for ${toSpanText(up)}.`]
  if ((state.ok && state.value.state === 'starting') || (up !== undefined && up < game.startSeconds)) {
    return [
      {
        finding: 'It is still starting.',
        evidence: [...since, `A start may take ${toSpanText(game.startSeconds)}.`, status.why],
        whatToDo: 'Wait and ask again; if it stays so, read its log (get_game_server_logs).',
        weight: 79,
      },
    ]
  }
  return [
    {
      finding: 'It runs but does not answer.',
      evidence: [status.why, ...since],
      whatToDo:
        'It hangs, or it is asked at the wrong place. If it answered before, restart it (restart_game_server); if it never did, check the host and port of its query and whether the port is published.',
      weight: 76,
    },
  ]
}

function noQuery(name: string): Finding {
  return {
    finding: 'Nobody can ask the game itself: it has no query.',
    evidence: [`The settings of ${name} have no query.`],
    whatToDo:
      'Add a query (type, host, port) to its settings, so that this can tell whether it answers and who plays.',
    weight: 20,
  }
}

function unhealthy({ health, detail }: BackendState): Finding[] {
  if (health !== 'unhealthy') return []
  return [
    {
      finding: 'Its own health check fails.',
      evidence: [detail],
      whatToDo:
        'Read its log (get_game_server_logs); if it does not answer either, restart it (restart_game_server).',
      weight: 72,
    },
  ]
}
