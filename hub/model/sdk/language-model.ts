import type { AnthropicProvider } from '@ai-sdk/anthropic'

/** A model of one of the AI SDK's provider packages: all of them have this interface. */
export type LanguageModel = ReturnType<AnthropicProvider['languageModel']>
export type CallOptions = Parameters<LanguageModel['doStream']>[0]
export type Prompt = CallOptions['prompt']
export type ProviderOptions = NonNullable<CallOptions['providerOptions']>

type Stream = Awaited<ReturnType<LanguageModel['doStream']>>['stream']
export type StreamPart = Stream extends ReadableStream<infer Part> ? Part : never
