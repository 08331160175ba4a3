import type { GetPromptResult, Prompt } from '@modelcontextprotocol/server'
import { type ClientPrompt, fillPrompt } from '../../../schemas/client-prompt.ts'
import { HubError } from '../../core/errors.ts'

export interface PromptingAgent {
  name: string
  description: string
  clientPrompt?: ClientPrompt | undefined
}

export type HubPrompts = ReturnType<typeof createHubPrompts>

interface Declared extends PromptingAgent {
  clientPrompt: ClientPrompt
}

/**
 * Creates the prompts that agents' files declare, each under its agent's name. `agents` are those whose files
 * are there, in the order of their names.
 */
export function createHubPrompts(agents: () => readonly PromptingAgent[]) {
  const declared = () => agents().filter((agent): agent is Declared => agent.clientPrompt !== undefined)
  return {
    list: () => declared().map(toPrompt),
    /** Fills a prompt. Throws `not_found`, and `invalid_arguments` if a required argument is missing. */
    get(name: string, args: Readonly<Record<string, string>>): GetPromptResult {
      const agent = declared().find(each => each.name === name)
      if (!agent) {
        const there = declared().map(each => each.name)
        throw new HubError(
          'not_found',
          `There is no prompt ${name}; the hub's own: ${there.join(', ') || 'none'}`,
        )
      }
      return fill(agent, new Map(Object.entries(args)))
    },
    /** Returns the file's values that begin with `argument.value`; none for an unknown prompt or argument. */
    complete(name: string, argument: { name: string; value: string }): string[] {
      const agent = declared().find(each => each.name === name)
      const meant = agent?.clientPrompt.arguments.find(each => each.name === argument.name)
      const beginning = argument.value.toLowerCase()
      return meant?.values.filter(value => value.toLowerCase().startsWith(beginning)) ?? []
    },
  }
}

function toPrompt(agent: Declared): Prompt {
  const { title, arguments: declared } = agent.clientPrompt
  return {
    name: agent.name,
    ...(title === undefined ? {} : { title }),
    ...describe(agent),
    arguments: declared.map(({ name, description, required }) => ({
      name,
      ...(description === undefined ? {} : { description }),
      required,
    })),
  }
}

function describe({ clientPrompt, description }: Declared): { description?: string } {
  const text = clientPrompt.description ?? description
  return text === '' ? {} : { description: text }
}

function fill(agent: Declared, given: ReadonlyMap<string, string>): GetPromptResult {
  const { clientPrompt } = agent
  const missing = clientPrompt.arguments.filter(({ name, required }) => required && !given.get(name)?.trim())
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(', ')
    throw new HubError('invalid_arguments', `The prompt ${agent.name} needs ${names}`)
  }
  const text = fillPrompt(clientPrompt, given)
  return { ...describe(agent), messages: [{ role: 'user', content: { type: 'text', text } }] }
}
