import { z } from 'zod'
import { configInForce } from '../../../schemas/hub-lists.ts'
import { defineHubTool } from './hub-tool.ts'

export const readConfig = defineHubTool({
  name: 'hub_read_config',
  title: 'Read the config in force',
  description: 'Each value of the effective config with its source, without secrets, and the file to change.',
  input: z.strictObject({}),
  output: configInForce,
  effect: 'reads',
  right: 'admin',
  async run(_args, { deps }) {
    const { file, values, problems } = deps.describeConfig()
    return {
      file,
      values: values.map(({ value, ...rest }) => ({ ...rest, ...(value === undefined ? {} : { value }) })),
      problems: [...problems],
    }
  },
  toText: ({ values }) =>
    values.map(({ key, value = '(not set)', origin }) => `${key}: ${value}  # ${origin}`).join('\n'),
})
