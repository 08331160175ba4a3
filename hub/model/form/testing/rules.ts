import { isObject } from '../../../core/forwarding.ts'
import type { ModelMessage } from '../../../core/model.ts'
import type { Form } from '../form.ts'

/** Returns a line for each fault that a provider refuses in a history, by the providers' words alone. */
type Rule = (messages: readonly ModelMessage[], form: Form) => string[]

const where = (messages: readonly ModelMessage[], isWrong: (message: ModelMessage, at: number) => boolean) =>
  messages.flatMap((message, at) => (isWrong(message, at) ? [`${at} ${message.role}`] : []))

const seen = (text: string) => text.replace(/[\s\u200b]/g, '') !== ''

const callsOf = (messages: readonly ModelMessage[]) =>
  messages.flatMap(message => (message.role === 'assistant' ? message.calls : []))

const COMMON: Record<string, Rule> = {
  'no message is empty': messages =>
    where(messages, message => {
      if (seen(message.text)) return false
      if (message.role === 'tool') return true
      return message.role === 'assistant' ? message.calls.length === 0 : !message.images?.length
    }),
  'a call has one result right after its message': messages => {
    const due: string[] = []
    const wrong = where(messages, message => {
      if (message.role === 'tool') return due.shift() !== message.callId
      const isLate = due.length > 0
      if (message.role === 'assistant') due.push(...message.calls.map(call => call.id))
      return isLate
    })
    return [...wrong, ...due]
  },
  'a result has the name of its call': messages => {
    const names = new Map(callsOf(messages).map(call => [call.id, call.name]))
    return where(messages, message => message.role === 'tool' && names.get(message.callId) !== message.name)
  },
  'ids stand once': messages => {
    const ids = callsOf(messages).map(call => call.id)
    return ids.filter((id, at) => ids.indexOf(id) !== at)
  },
  'names are of the alphabet': messages =>
    callsOf(messages).flatMap(({ name }) => (/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name) ? [] : [name])),
  'arguments are an object': messages =>
    callsOf(messages).flatMap(call => (isObject(JSON.parse(call.arguments)) ? [] : [call.arguments])),
  'the last message is to be answered': messages => {
    const last = messages.at(-1)?.role
    return last === 'user' || last === 'tool' ? [] : [String(last)]
  },
  'thoughts are their own': (messages, { family }) =>
    where(messages, message => message.role === 'assistant' && (message.thinking?.by ?? family) !== family),
  'characters are whole': messages => where(messages, message => !message.text.isWellFormed()),
  'pictures stand where they may': (messages, { history }) =>
    where(messages, message => {
      if (message.role === 'assistant' || !message.images?.length) return false
      return history.images === 'none' || (history.images === 'user' && message.role === 'tool')
    }),
  'pictures are pictures': messages =>
    where(
      messages,
      message => message.role !== 'assistant' && !!message.images?.some(image => image.data === 'no picture'),
    ),
}

const ids =
  (pattern: RegExp): Rule =>
  messages =>
    callsOf(messages).flatMap(({ id }) => (pattern.test(id) ? [] : [id]))

const userFirst: Rule = ([first]) => (first?.role === 'user' ? [] : ['first'])

const alternating: Rule = messages =>
  where(messages, ({ role }, at) => role !== 'tool' && messages[at - 1]?.role === role)

const PROVIDERS: Record<string, Record<string, Rule>> = {
  openai: { 'ids of at most 64': ids(/^.{1,64}$/s) },
  anthropic: { 'the user first': userFirst, 'ids of the alphabet': ids(/^[a-zA-Z0-9_-]+$/) },
  google: { 'the user first': userFirst, 'roles alternate': alternating },
  mistral: {
    'ids of nine': ids(/^[a-zA-Z0-9]{9}$/),
    'no user after results': messages =>
      where(messages, ({ role }, at) => role === 'user' && messages[at - 1]?.role === 'tool'),
    'roles alternate': alternating,
  },
  deepseek: {
    'reasoning everywhere': messages =>
      where(messages, message => message.role === 'assistant' && message.thinking === undefined),
  },
  signed: {
    'a signature for calls': messages =>
      where(messages, message => {
        if (message.role !== 'assistant' || message.calls.length === 0) return false
        return !/signature|reasoning\.encrypted/.test(JSON.stringify(message.thinking ?? {}))
      }),
  },
  templates: { 'the user first': userFirst, 'roles alternate': alternating },
}

function rulesOf({ family }: Form): Record<string, Rule> {
  const provider = family.split('/', 1)[0] ?? ''
  return {
    ...COMMON,
    ...(provider === 'compatible' ? PROVIDERS['templates'] : {}),
    ...PROVIDERS[provider],
    ...(/anthropic/.test(family) ? PROVIDERS['anthropic'] : {}),
    ...(/mistral|devstral/.test(family) ? PROVIDERS['mistral'] : {}),
    ...(/deepseek|kimi/.test(family) ? PROVIDERS['deepseek'] : {}),
  }
}

/** Returns a line for each fault in a history, with the rule that it breaks. */
export function findBroken(messages: readonly ModelMessage[], form: Form): string[] {
  return Object.entries(rulesOf(form)).flatMap(([name, rule]) =>
    rule(messages, form).map(fault => `${name}: ${fault}`),
  )
}

/** Checks Gemini 3's rule that calls are signed, for forms where the hub itself adds the signatures. */
export function findUnsigned(messages: readonly ModelMessage[], form: Form): string[] {
  return Object.values(PROVIDERS['signed'] ?? {}).flatMap(rule => rule(messages, form))
}
