import { PAGE_CHANNEL } from '../../schemas/notify.ts'
import { createLooks, type Looks } from '../core/looks.ts'
import { type Buttons, type ButtonsDeps, createButtons } from './buttons.ts'
import { type Channel, createNotifier, type Notifier, type NotifierDeps } from './notifier.ts'
import { createPageChannel, type PageChannel, type PageChannelDeps } from './page-channel.ts'

export interface Notify {
  buttons: Buttons
  notifier: Notifier
  /** The owner's browsers. */
  page: PageChannel
  /** Returns why the channel that the config names cannot be used; none while servers still start. */
  problems(): Promise<string[]>
  /** The conversations that the owner looks at: of these nothing is told. */
  looks: Looks
}

interface NotifyDeps extends Omit<NotifierDeps, 'buttons' | 'isLookedAt'>, ButtonsDeps {
  /** Sends with the notifications server. */
  channel: Channel & { problems(channel: string | undefined): string[] }
  pushFetch: PageChannelDeps['pushFetch']
}

/** Opens what notifies people and takes the answers of their buttons; `stack` closes it. */
export function openNotify(deps: NotifyDeps, stack: AsyncDisposableStack): Notify {
  const buttons = createButtons(deps)
  const looks = createLooks()
  const page = createPageChannel(deps)
  const isPage = (channel: string | undefined) => channel === PAGE_CHANNEL
  const channel: Channel = {
    send: (message, options) => (isPage(message.channel) ? page : deps.channel).send(message, options),
  }
  const notifier = stack.use(createNotifier({ ...deps, channel, buttons, isLookedAt: looks.has }))
  const problems = async () => {
    const named = deps.settings()?.channel
    return isPage(named) ? page.problems() : deps.channel.problems(named)
  }
  return { buttons, notifier, page, problems, looks }
}
