import { z } from 'zod'
import { CLIENTS } from '../../../schemas/clients.ts'
import {
  askedServer,
  foundModels,
  type ModelFinding,
  modelChoice,
  modelFinding,
} from '../../../schemas/model-choice.ts'
import { toLine } from '../../core/text.ts'
import { defineHubTool } from './hub-tool.ts'

export const findModels = defineHubTool({
  name: 'hub_find_models',
  title: 'Find models',
  description:
    'The models that answer on the machine of the hub, or at an address, and the variables that hold a key of a provider.',
  input: askedServer,
  output: foundModels,
  effect: 'reads',
  right: 'admin',
  run: (asked, { deps }) => deps.models.find(asked),
  toText: ({ servers }) =>
    servers
      .map(({ program, baseUrl, models }) =>
        toLine(`${program ?? 'A server'} at ${baseUrl}: ${models.join(', ')}`),
      )
      .join('\n') || 'No model server answers here.',
})

export const tryModel = defineHubTool({
  name: 'hub_try_model',
  title: 'Try a model',
  description:
    "Tries a model with the default agent's prompt and tools, and says what it can and cannot do. It may take minutes.",
  input: modelChoice,
  output: z.object({ works: z.boolean(), findings: z.array(modelFinding) }),
  effect: 'reads',
  right: 'admin',
  async run(choice, { deps }) {
    const findings = await deps.models.try(choice)
    return { works: findings.every(({ level }) => level !== 'problem'), findings }
  },
  toText: trial => describeTrial(trial, { yes: 'Agents can use it.', no: 'Agents cannot use it like this.' }),
})

export const setModel = defineHubTool({
  name: 'hub_set_model',
  title: 'Choose the model',
  description: "Makes a model the hub's default in superbloom.yaml; what else stands there stays.",
  input: modelChoice,
  output: z.object({ file: z.string() }),
  effect: 'removes',
  right: 'admin',
  run: (choice, { deps, principal }) => deps.models.keep(choice, principal),
  toText: ({ file }) => `Wrote the model into ${file}.`,
})

export const describeClient = defineHubTool({
  name: 'hub_describe_client',
  title: 'Connect a client',
  description: "What to paste into a client on the hub's machine, which then has the hub's tools.",
  input: z.strictObject({ client: z.enum(CLIENTS) }),
  output: z.object({ text: z.string() }),
  effect: 'reads',
  right: 'admin',
  run: async ({ client }, { deps }) => ({ text: deps.describeClient(client) }),
  toText: ({ text }) => text,
})

/** Returns the findings, a line each, and the verdict. */
export function describeTrial(
  { works, findings }: { works: boolean; findings: readonly ModelFinding[] },
  { yes, no }: { yes: string; no: string },
): string {
  return [...findings.map(({ level, what }) => `${level}: ${toLine(what)}`), works ? yes : no].join('\n')
}
