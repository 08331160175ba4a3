import { type Buttons, type ButtonsDeps, createButtons } from './buttons.ts'
import { createNotifier, type Notifier, type NotifierDeps } from './notifier.ts'

/** Opens what notifies people and takes the answers of their buttons; `stack` closes it. */
export function openNotify(
  deps: Omit<NotifierDeps, 'buttons'> & ButtonsDeps,
  stack: AsyncDisposableStack,
): { buttons: Buttons; notifier: Notifier } {
  const buttons = createButtons(deps)
  return { buttons, notifier: stack.use(createNotifier({ ...deps, buttons })) }
}
