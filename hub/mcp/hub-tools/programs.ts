import { z } from 'zod'
import { notify } from '../../../schemas/notify.ts'
import { foundProgram, knownProgram, programChoice, programTrial } from '../../../schemas/programs.ts'
import { plural, toLine } from '../../core/text.ts'
import { defineHubTool } from './hub-tool.ts'
import { untilStarted } from './servers.ts'
import { describeTrial } from './setup.ts'

export const listPrograms = defineHubTool({
  name: 'hub_list_programs',
  title: 'List programs',
  description:
    'The programs that the built-in servers look after, the settings that each needs, and those that are connected.',
  input: z.strictObject({}),
  output: z.object({ programs: z.array(knownProgram) }),
  effect: 'reads',
  right: 'admin',
  run: async (_args, { deps }) => ({ programs: deps.programs.list() }),
  toText: ({ programs }) =>
    programs
      .map(({ title, settings, connected }) => {
        const keys = settings.map(({ key }) => key).join(', ')
        return toLine(
          `${title} (${keys || 'no settings'})${connected.length > 0 ? `: ${connected.join(', ')}` : ''}`,
        )
      })
      .join('\n'),
})

export const findPrograms = defineHubTool({
  name: 'hub_find_programs',
  title: 'Find programs',
  description:
    'Looks at the usual ports of the machine of the hub, and of no other, for programs that its servers know.',
  input: z.strictObject({}),
  output: z.object({ found: z.array(foundProgram) }),
  effect: 'reads',
  right: 'admin',
  run: async (_args, { deps }) => ({ found: await deps.programs.find() }),
  toText: ({ found }) =>
    found
      .map(({ title, version, address, isConnected }) =>
        toLine(`${title}${version ? ` ${version}` : ''} at ${address}${isConnected ? ', connected' : ''}`),
      )
      .join('\n') || 'No program that the servers know answers at its usual port.',
})

export const tryProgram = defineHubTool({
  name: 'hub_try_program',
  title: 'Try a program',
  description: 'Asks a program with the given settings, as the server that looks after it would.',
  input: programChoice,
  output: programTrial,
  effect: 'reads',
  right: 'admin',
  async run(choice, { deps }) {
    const findings = await deps.programs.try(choice)
    return { works: findings.every(({ level }) => level !== 'problem'), findings }
  },
  toText: trial =>
    describeTrial(trial, { yes: 'It can be connected.', no: 'It cannot be connected like this.' }),
})

export const setProgram = defineHubTool({
  name: 'hub_set_program',
  title: 'Connect a program',
  description:
    "Writes a program's settings into the entry of its server in superbloom.yaml; what else stands there stays. Its server starts anew.",
  input: programChoice,
  output: z.object({
    file: z.string(),
    server: z.string(),
    state: z.string(),
    tools: z.int(),
    error: z.string().optional(),
  }),
  effect: 'removes',
  right: 'admin',
  async run(choice, context) {
    const written = await context.deps.programs.set(choice, context.principal)
    const { state = 'starting', tools = 0, error } = (await untilStarted(context, written.server)) ?? {}
    return { ...written, state, tools, ...(error === undefined ? {} : { error }) }
  },
  toText: ({ file, server, state, tools, error }) =>
    toLine(
      `Wrote ${file}. The server ${server}: ${state}, ${plural(tools, 'tool')}${error ? ` (${error})` : ''}`,
    ),
})

export const setNotify = defineHubTool({
  name: 'hub_set_notify',
  title: 'Choose where to be told',
  description:
    'Writes which channel tells the owner of what into superbloom.yaml; what else stands there stays.',
  input: notify,
  output: z.object({ file: z.string() }),
  effect: 'removes',
  right: 'admin',
  run: (settings, { deps, principal }) => deps.setNotify(settings, principal),
  toText: ({ file }) => `Wrote it into ${file}.`,
})
