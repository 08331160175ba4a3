import { onTestFinished } from 'vitest'
import type { HubOverrides } from '../../hub/hub.ts'
import { BOT_TOKEN, type BotOptions, type DiscordLab, startDiscordBot } from '../lab/discord-bot.ts'
import { type LabChannel, type Person, ROLE } from '../lab/discord-shapes.ts'
import { openContract } from './openapi.ts'
import { createScriptedModel } from './scripted-model.ts'
import { startTestHub } from './test-hub.ts'
import { until } from './until.ts'

export const ada: Person = { id: '100000000000000001', username: 'ada' }
export const bob: Person = { id: '100000000000000002', username: 'bob', roles: [ROLE] }
export const mallory: Person = { id: '100000000000000666', username: 'mallory' }
export const robot: Person = { id: '100000000000000777', username: 'robot', bot: true }

export const home: LabChannel = { id: '200000000000000001', name: 'homelab' }
export const lobby: LabChannel = { id: '200000000000000002', name: 'lobby' }
export const thread: LabChannel = { id: '200000000000000003', name: 'disks', parent: home.id }
export const direct: LabChannel = { id: '200000000000000004', name: 'ada', isDirect: true }

/** Starts the stand-in, which holds the bot to Discord's published description. */
export async function openLab(more: Partial<BotOptions> = {}): Promise<DiscordLab> {
  const lab = await startDiscordBot({
    channels: [home, lobby, thread, direct],
    people: [ada, bob, mallory],
    contract: openContract('discord.json', '/api/v10'),
    ...more,
  })
  onTestFinished(() => lab[Symbol.asyncDispose]())
  return lab
}

/** Returns a config whose bot talks with the stand-in. */
export function toConfig(lab: Pick<DiscordLab, 'api'>, more: object = {}, others: object = {}): string {
  const discord = {
    token: BOT_TOKEN,
    api: lab.api,
    owner: ada.id,
    channels: { [home.id]: 'homelab' },
    ...more,
  }
  return JSON.stringify({ servers: { metrics: false }, channels: { discord }, ...others })
}

const SHARED = '---\ndescription: Looks after the homelab\nshared: true\n---\n\nYou look after it.\n'

/** Starts a hub whose bot is connected. */
export async function openDiscordHub(
  discord: object = {},
  others: object = {},
  overrides: HubOverrides = {},
) {
  const lab = await openLab()
  const model = createScriptedModel()
  const hub = await startTestHub({
    config: toConfig(lab, discord, others),
    agents: { homelab: SHARED },
    overrides: { model, ...overrides },
  })
  const untilConnected = () =>
    hub.logs.find('the bot is connected', ({ event }) => event === 'discord_connected', hub.startedFrom)
  await untilConnected()
  const answered = (text: string) =>
    lab.messages.find(
      `the bot says ${text}`,
      ({ author, content }) => author.bot === true && content.includes(text),
    )
  const requested = (route: RegExp, from = 0) =>
    until(`the bot requests ${route}`, () => lab.requests.slice(from).find(one => route.test(one.route)))
  return {
    lab,
    model,
    hub,
    untilConnected,
    answered,
    requested,
    [Symbol.asyncDispose]: () => hub[Symbol.asyncDispose](),
  }
}
