import { createLooks, type Looks } from '../core/looks.ts'
import { type Buttons, type ButtonsDeps, createButtons } from './buttons.ts'
import { createNotifier, type Notifier, type NotifierDeps } from './notifier.ts'

export interface Notify {
  buttons: Buttons
  notifier: Notifier
  /** The conversations that the owner looks at: of these nothing is told. */
  looks: Looks
}

/** Opens what notifies people and takes the answers of their buttons; `stack` closes it. */
export function openNotify(
  deps: Omit<NotifierDeps, 'buttons' | 'isLookedAt'> & ButtonsDeps,
  stack: AsyncDisposableStack,
): Notify {
  const buttons = createButtons(deps)
  const looks = createLooks()
  const notifier = stack.use(createNotifier({ ...deps, buttons, isLookedAt: looks.has }))
  return { buttons, notifier, looks }
}
