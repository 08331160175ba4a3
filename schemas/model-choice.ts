import { z } from 'zod'
import { PROVIDER_NAMES } from './providers.ts'

/** A model that a person chooses: at a server's address, or of a provider. */
export const modelChoice = z.strictObject({
  provider: z.enum(PROVIDER_NAMES).optional().describe('default: as the host of baseUrl says'),
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("of a server that speaks OpenAI's API"),
  apiKey: z.string().min(1).optional().describe('default: of the environment'),
  model: z.string().trim().min(1),
  vision: z.boolean().optional().describe('whether it sees pictures; default: as its provider says'),
})
export type ModelChoice = z.infer<typeof modelChoice>

/** The server whose models are listed; without an address, those that answer on the hub's machine. */
export const askedServer = modelChoice.pick({ baseUrl: true, apiKey: true })
export type AskedServer = z.infer<typeof askedServer>

/** A finding about a model, in words for a person, with advice on how to fix it. */
export const modelFinding = z.object({ level: z.enum(['ok', 'warning', 'problem']), what: z.string() })
export type ModelFinding = z.infer<typeof modelFinding>

/** What could think here. */
export const foundModels = z.object({
  servers: z
    .array(z.object({ baseUrl: z.string(), program: z.string().optional(), models: z.array(z.string()) }))
    .describe('model servers that answer on this machine'),
  keys: z.array(z.string()).describe('variables that hold a key'),
})
export type FoundModels = z.infer<typeof foundModels>
