import { googleToolRules } from './google-tools.ts'
import { type Json, toObject, toObjects, toText, unknownKeys } from './json.ts'
import {
  createCheck,
  type Issued,
  type Playing,
  type Provider,
  type Rule,
  type Script,
  startMimic,
  type Turn,
  toEvent,
  toPieces,
} from './mimic.ts'

export interface GoogleRequest {
  body: Json
  contents: Content[]
  declarations: Json[]
  /** True for an older model, which does not require signatures. */
  isOlder: boolean
}

interface Content {
  role: unknown
  parts: Json[]
}

const KNOWN =
  'contents systemInstruction tools toolConfig generationConfig safetySettings cachedContent labels serviceTier'.split(
    ' ',
  )

/** Placeholders for the signature of a call that another model made. */
export const GOOGLE_PLACEHOLDERS = [
  'skip_thought_signature_validator',
  'context_engineering_is_the_way_to_go',
]

const callsIn = ({ parts }: Content) => parts.filter(part => 'functionCall' in part)
const resultsIn = ({ parts }: Content) => parts.filter(part => 'functionResponse' in part)

/** Returns the index of the user's last message: the model's calls after it need their signatures. */
export function currentTurn(contents: readonly Content[]): number {
  return contents.findLastIndex(content => content.role !== 'model' && resultsIn(content).length === 0)
}

export const isGoogleSignature = (signature: unknown, issued: Issued): boolean =>
  GOOGLE_PLACEHOLDERS.includes(toText(signature)) || issued.has(toText(signature))

/** Returns Gemini 3's message about a missing signature. */
export const missingSignature = (name: unknown, position: number): string =>
  `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${position}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`

const contentRules: Rule<GoogleRequest>[] = [
  {
    what: 'a field that it does not know',
    source: 'https://github.com/symfony/ai/issues/2037',
    *find({ body }) {
      for (const key of unknownKeys(body, KNOWN))
        yield { message: `Invalid JSON payload received. Unknown name "${key}": Cannot find field.` }
    },
  },
  {
    what: 'no content',
    source: 'https://ai.google.dev/api/generate-content',
    *find({ contents }) {
      if (contents.length === 0)
        yield { message: '* GenerateContentRequest.contents: contents is not specified\n' }
    },
  },
  {
    what: 'a role other than `user` and `model`',
    source: 'https://ai.google.dev/api/caching#Content',
    *find({ contents }) {
      for (const { role } of contents)
        if (role !== 'user' && role !== 'model') yield { message: 'Please use a valid role: user, model.' }
    },
  },
  {
    what: 'content without parts',
    source: 'https://github.com/vercel/ai/issues/3775',
    *find({ contents }) {
      for (const [at, { parts }] of contents.entries())
        if (parts.length === 0)
          yield {
            message: `* GenerateContentRequest.contents[${at}].parts: contents.parts must not be empty.\n`,
          }
    },
  },
  {
    what: 'a part without anything in it',
    source: 'https://github.com/router-for-me/CLIProxyAPI/issues/1292',
    *find({ contents }) {
      for (const [at, { parts }] of contents.entries())
        for (const [position, part] of parts.entries()) {
          const { thoughtSignature, thought, ...data } = part
          if (Object.keys(data).length === 0 || (data['text'] === '' && thoughtSignature === undefined))
            yield {
              message: `* GenerateContentRequest.contents[${at}].parts[${position}].data: required oneof field 'data' must have one initialized field\n`,
            }
        }
    },
  },
  {
    what: 'a last message of the model',
    source: 'https://github.com/crewAIInc/crewAI/pull/6973',
    *find({ contents }) {
      if (contents.at(-1)?.role === 'model')
        yield { message: 'Please ensure that multiturn requests end with a user role.' }
    },
  },
  {
    what: "a call that follows neither the user's message nor a result",
    source: 'https://github.com/diegosouzapw/OmniRoute/pull/13573',
    *find({ contents }) {
      for (const [at, content] of contents.entries())
        if (callsIn(content).length > 0 && contents[at - 1]?.role !== 'user')
          yield {
            message:
              'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
          }
    },
  },
  {
    what: 'a result that does not follow its call',
    source: 'https://github.com/BerriAI/litellm/issues/26755',
    *find({ contents }) {
      for (const [at, content] of contents.entries()) {
        const before = contents[at - 1]
        if (resultsIn(content).length > 0 && (!before || callsIn(before).length === 0))
          yield {
            message:
              'Please ensure that function response turn comes immediately after a function call turn.',
          }
      }
    },
  },
  {
    what: 'another number of results than of calls',
    source: 'https://github.com/google-gemini/gemini-cli/issues/16543',
    *find({ contents }) {
      for (const [at, content] of contents.entries()) {
        const calls = callsIn(content).length
        const next = contents[at + 1]
        if (calls > 0 && calls !== (next ? resultsIn(next).length : 0))
          yield {
            message:
              'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
          }
      }
    },
  },
  {
    what: 'something else in the message with the results',
    source: 'https://github.com/anomalyco/opencode/pull/43479',
    *find({ contents }) {
      for (const content of contents) {
        const { length } = resultsIn(content)
        if (length > 0 && length < content.parts.length)
          yield {
            message:
              'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
          }
      }
    },
  },
  {
    what: 'a call of the current turn without the signature of its thoughts (the first of parallel ones; Gemini 3 and later)',
    source: 'https://ai.google.dev/gemini-api/docs/thought-signatures',
    *find({ contents, isOlder }) {
      if (isOlder) return
      for (const [at, content] of contents.entries()) {
        const [first] = callsIn(content)
        if (at > currentTurn(contents) && first && first['thoughtSignature'] === undefined)
          yield { message: missingSignature(toObject(first['functionCall'])['name'], at + 1) }
      }
    },
  },
  {
    what: 'a signature that it did not make',
    source: 'https://github.com/anomalyco/opencode/issues/4832',
    *find({ contents }, issued) {
      for (const { thoughtSignature } of contents.flatMap(({ parts }) => parts))
        if (thoughtSignature !== undefined && !isGoogleSignature(thoughtSignature, issued))
          yield { message: 'Corrupted thought signature.' }
    },
  },
]

export const googleRules = [...googleToolRules, ...contentRules]

const readGoogle = (body: Json, path: string): GoogleRequest => ({
  body,
  contents: toObjects(body['contents']).map(({ role, parts }) => ({ role, parts: toObjects(parts) })),
  declarations: toObjects(body['tools']).flatMap(tool => toObjects(tool['functionDeclarations'])),
  isOlder: /gemini-[12]/.test(path),
})

/**
 * Yields a reply's chunks, in the form of the recorded streams: each call is whole, the first one with its
 * signature.
 */
function* play({ reasoning, text, calls = [] }: Turn, { usage, issue }: Playing): Iterable<string> {
  const { input, cached, output } = usage
  const responseId = issue('', 23)
  const signature = () => issue('EpEgCo4gAb4', 96)
  const chunk = (parts: Json[], more: Json = {}) =>
    toEvent({
      candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
      usageMetadata: {
        promptTokenCount: input,
        candidatesTokenCount: output,
        totalTokenCount: input + output,
        cachedContentTokenCount: cached,
      },
      responseId,
    })
  for (const piece of toPieces(reasoning ?? '')) yield chunk([{ text: piece, thought: true }])
  for (const piece of toPieces(text ?? '')) yield chunk([{ text: piece }])
  for (const [at, { name, arguments: args }] of calls.entries())
    yield chunk([{ functionCall: { name, args }, ...(at === 0 ? { thoughtSignature: signature() } : {}) }])
  const last = calls.length > 0 ? { text: '' } : { text: '', thoughtSignature: signature() }
  yield chunk([last], { finishReason: 'STOP' })
}

const google: Provider<GoogleRequest> = {
  name: 'google',
  base: '/v1beta',
  path: /^\/models\/[^/:]+:streamGenerateContent$/,
  key: {
    header: 'x-goog-api-key',
    fault: {
      status: 403,
      type: 'PERMISSION_DENIED',
      message: "Method doesn't allow unregistered callers (callers without established identity).",
    },
  },
  rules: googleRules,
  read: readGoogle,
  refuse: ({ status: code = 400, type: status = 'INVALID_ARGUMENT', message }) => ({
    status: code,
    body: { error: { code, message, status } },
  }),
  play,
}

export const checkGoogle = createCheck(google)
export const startGoogleMimic = (script: Script) => startMimic(google, script)
