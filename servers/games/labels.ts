import { z } from 'zod'
import { ACCESS_LEVELS } from '../kit/access.ts'
import type { Container } from '../kit/docker/engine.ts'
import { cleanText } from '../kit/text.ts'
import { type GameSettings, type GamesSettings, toPasswordVariable } from './config.ts'
import { gameName } from './declaration.ts'
import { type ConsoleSettings, consoleSettings } from './upstreams/console.ts'
import { type QuerySettings, querySettings } from './upstreams/query.ts'

/** The label that makes a container a game server; its value is the game's name. */
export const GAME_LABEL = 'superbloom.game'

const ADDRESS = /^([^:]+):(?:([^:]+|\[[^\]]+\]):)?(\d{1,5})$/
const seconds = z.coerce.number().min(1).max(3600)
const flag = z.stringbool({ truthy: ['true'], falsy: ['false'] })

/**
 * Reads the game that a container's labels declare. A wrong label loses only its own setting, and is reported
 * as a problem.
 */
export function readLabels(
  container: Container,
  engine: string,
  settings: Pick<GamesSettings, 'host' | 'passwordOf'>,
): { game: GameSettings | undefined; problems: string[] } {
  const problems: string[] = []
  const tell = (label: string, form: string) => {
    const value = cleanText(container.labels[label] ?? '', 60)
    problems.push(`container ${container.name}: the label ${label} is "${value}", but it must be ${form}`)
  }
  const name = gameName.safeParse(container.labels[GAME_LABEL])
  if (!name.success) {
    tell(GAME_LABEL, 'a name of letters, digits and . _ -')
    return { game: undefined, problems }
  }
  const reader = createReader(container, settings.host, tell)
  const game: GameSettings = {
    name: name.data,
    title: cleanText(container.labels[`${GAME_LABEL}.title`] ?? '', 100) || name.data,
    backend: { kind: 'docker', container: container.name, engine },
    query: reader.query(),
    console: reader.console(
      container.labels[`${GAME_LABEL}.console.password`] ?? settings.passwordOf(name.data),
      toPasswordVariable(name.data),
    ),
    commands: (container.labels[`${GAME_LABEL}.commands`] ?? '')
      .split(',')
      .map(command => command.trim())
      .filter(command => command !== ''),
    access: reader.value('access', z.enum(ACCESS_LEVELS), 'read, change or full') ?? 'full',
    startSeconds: reader.value('start-seconds', seconds, 'seconds from 1 to 3600') ?? 120,
    stopSeconds: reader.value('stop-seconds', seconds, 'seconds from 1 to 3600') ?? 30,
  }
  return { game, problems }
}

function createReader(container: Container, host: string, tell: (label: string, form: string) => void) {
  const read = <Value>(key: string, parse: (text: string) => Value | undefined, form: string) => {
    const label = `${GAME_LABEL}.${key}`
    const text = container.labels[label]
    if (text === undefined) return undefined
    const value = parse(text.trim())
    if (value === undefined) tell(label, form)
    return value
  }
  const address = (text: string) => {
    const [, what, named, port] = ADDRESS.exec(text) ?? []
    return { what, host: named ?? host, port: Number(port) }
  }
  return {
    value: <Value>(key: string, schema: z.ZodType<Value>, form: string) =>
      read(key, text => schema.safeParse(text).data, form),
    query(): QuerySettings | undefined {
      const query = read(
        'query',
        text => {
          const { what, ...rest } = address(text)
          return querySettings.safeParse({ type: what, ...rest }).data
        },
        'TYPE:PORT or TYPE:HOST:PORT, such as q3a:27960',
      )
      const countBots = read('count-bots', text => flag.safeParse(text).data, 'true or false')
      return query && { ...query, countBots }
    },
    console: (password: string | undefined, variable: string): ConsoleSettings | undefined =>
      read(
        'console',
        text => {
          const { what, ...rest } = address(text)
          return consoleSettings.safeParse({ kind: what, ...rest, password }).data
        },
        `KIND:PORT or KIND:HOST:PORT, such as quake3:27960, with the password in ${variable} or the label ${GAME_LABEL}.console.password`,
      ),
  }
}
