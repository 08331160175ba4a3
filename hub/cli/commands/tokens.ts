import { rmSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import { listedToken, PEOPLE_ROLES, ROLES } from '../../../schemas/tokens.ts'
import { createEnvironment } from '../../config/environment.ts'
import { locateData } from '../../config/load.ts'
import { HubError } from '../../core/errors.ts'
import { callHub, printCall } from '../call-hub.ts'
import { clientTokenFile } from '../client-token.ts'
import { findHub, type RunningHub } from '../find-hub.ts'
import { print } from '../print.ts'
import { findId } from '../short-ids.ts'

export function define(command: Command): void {
  if (command.name() === 'people') definePeople(command)
  else defineTokens(command)
}

function defineTokens(command: Command): void {
  addList(command)
  command
    .command('create')
    .description('make a token for a program, a webhook or a scraper; it is shown this one time')
    .argument('<name>', 'what it shows as; for the role hook the name of its webhook')
    .addOption(new Option('--role <role>', 'what it opens').choices(ROLES).default('client'))
    .option('--tools <globs...>', 'the only tools that it may use')
    .option('--expires-in <span>', 'such as 90d; default never')
    .option('--replace', 'ends the token of this name')
    .option('--json', 'as JSON')
    .action((name: string, { json, ...options }: { json?: boolean }) =>
      printCall('hub_create_token', { name, ...options }, json),
    )
  command
    .command('revoke')
    .description('end tokens and sessions; what they hold open ends at once')
    .argument('[which]', 'a name, or an id as superbloom tokens shows it, or its beginning')
    .option('--all', "every one, and the owner's token is made anew where the data folder has it")
    .action(revoke)
}

async function revoke(which: string | undefined, { all }: { all?: true }): Promise<void> {
  if ((which === undefined) === (all === undefined))
    throw new HubError(
      'invalid_arguments',
      'Give the name or id of one, as superbloom tokens shows it, or --all',
    )
  const { dataFolder } = locateData(createEnvironment())
  const hub = findHub()
  const asked = which === undefined ? { all } : { which: await findToken(hub, which) }
  const { structured, text } = await callHub(hub, 'hub_revoke_token', asked)
  // A program on this machine makes another one when it next starts.
  const { revoked } = z.object({ revoked: z.array(listedToken) }).parse(structured)
  for (const { kind, name } of revoked)
    if (kind === 'token') rmSync(clientTokenFile(dataFolder, name), { force: true })
  print(text)
}

/** Returns a name as it is, else the id that is meant. */
async function findToken(hub: RunningHub, which: string): Promise<string> {
  const { structured } = await callHub(hub, 'hub_list_tokens', {})
  const { tokens } = z.object({ tokens: z.array(listedToken) }).parse(structured)
  return tokens.some(({ name }) => name === which) ? which : findId(which, tokens)
}

function definePeople(command: Command): void {
  addList(command)
  command
    .command('add')
    .description(
      'make a link with which a person signs in on the page, once and within a day; one per device',
    )
    .argument('<name>', 'what they show as')
    .addOption(new Option('--role <role>', 'default: the one they have, else member').choices(PEOPLE_ROLES))
    .action((name: string, options: object) => printCall('hub_add_person', { name, ...options }))
  command
    .command('remove')
    .description('end all sign-ins of a person; what was said stays')
    .argument('<name>')
    .action((name: string) => printCall('hub_remove_person', { name }))
}

function addList(command: Command): void {
  command
    .command('list', { isDefault: true })
    .description('tokens, sessions and people, without secrets')
    .option('--json', 'as JSON')
    .action(({ json }: { json?: boolean }) => printCall('hub_list_tokens', {}, json))
}
