import { z } from 'zod'
import { modelFinding } from './model-choice.ts'

/** A setting of a program that a person fills in. */
export const programSetting = z.object({
  key: z.string(),
  label: z.string(),
  where: z.string().optional().describe('where its value is found'),
  initial: z.string().optional(),
  isSecret: z.boolean().optional(),
  isOptional: z.boolean().optional(),
})
export type ProgramSetting = z.infer<typeof programSetting>

/** A program that a built-in server looks after or sends with. */
export const knownProgram = z.object({
  program: z.string(),
  title: z.string(),
  server: z.string().describe('the built-in server that uses it'),
  about: z.string(),
  settings: z.array(programSetting),
  isRepeatable: z.boolean().describe('whether there may be several, each with a name'),
  connected: z.array(z.string()).describe('hosts of those that are configured'),
})
export type KnownProgram = z.infer<typeof knownProgram>

/** A program that answers on the hub's machine. */
export const foundProgram = z.object({
  program: z.string(),
  title: z.string(),
  address: z.string(),
  version: z.string().optional(),
  isConnected: z.boolean(),
})
export type FoundProgram = z.infer<typeof foundProgram>

/** A program with what a person filled in. */
export const programChoice = z.strictObject({
  program: z.string().describe('as hub_list_programs lists it'),
  settings: z.record(z.string(), z.string().trim()).default({}).describe('values by the key of the setting'),
  name: z
    .string()
    .regex(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/, 'is small letters, digits and dashes, and begins with a letter')
    .max(40)
    .optional()
    .describe('of a second program of the same kind'),
})
export type ProgramChoice = z.output<typeof programChoice>

export const programTrial = z.object({ works: z.boolean(), findings: z.array(modelFinding) })
