import { anthropicRules, checkAnthropic, startAnthropicMimic } from './anthropic.ts'
import { checkDeepSeek, deepSeekRules, startDeepSeekMimic } from './deepseek.ts'
import { checkGoogle, googleRules, startGoogleMimic } from './google.ts'
import { checkGroq, groqRules, startGroqMimic } from './groq.ts'
import { checkLlamaCpp, llamaCppRules, startLlamaCppMimic } from './llama-cpp.ts'
import { checkLmStudio, lmStudioRules, startLmStudioMimic } from './lm-studio.ts'
import type { createCheck, Mimic, Script } from './mimic.ts'
import { checkMistral, mistralRules, startMistralMimic } from './mistral.ts'
import { checkOllama, ollamaRules, startOllamaMimic } from './ollama.ts'
import { checkOpenAiChat, openAiChatRules, startOpenAiChatMimic } from './openai-chat.ts'
import { checkOpenAiResponses, openAiResponsesRules, startOpenAiResponsesMimic } from './openai-responses.ts'
import { checkOpenRouter, openRouterRules, startOpenRouterMimic } from './openrouter.ts'
import { checkVllm, startVllmMimic, vllmRules } from './vllm.ts'

export interface MimicKind {
  name: string
  rules: readonly { what: string; source: string }[]
  check: ReturnType<typeof createCheck>
  start(script: Script): Promise<Mimic>
}

/** Every mimic, in the order of docs/models.md. */
export const mimics: readonly MimicKind[] = [
  {
    name: 'openai-responses',
    rules: openAiResponsesRules,
    check: checkOpenAiResponses,
    start: startOpenAiResponsesMimic,
  },
  { name: 'openai-chat', rules: openAiChatRules, check: checkOpenAiChat, start: startOpenAiChatMimic },
  { name: 'anthropic', rules: anthropicRules, check: checkAnthropic, start: startAnthropicMimic },
  { name: 'google', rules: googleRules, check: checkGoogle, start: startGoogleMimic },
  { name: 'mistral', rules: mistralRules, check: checkMistral, start: startMistralMimic },
  { name: 'deepseek', rules: deepSeekRules, check: checkDeepSeek, start: startDeepSeekMimic },
  { name: 'openrouter', rules: openRouterRules, check: checkOpenRouter, start: startOpenRouterMimic },
  { name: 'groq', rules: groqRules, check: checkGroq, start: startGroqMimic },
  { name: 'llama-cpp', rules: llamaCppRules, check: checkLlamaCpp, start: startLlamaCppMimic },
  { name: 'lm-studio', rules: lmStudioRules, check: checkLmStudio, start: startLmStudioMimic },
  { name: 'ollama', rules: ollamaRules, check: checkOllama, start: startOllamaMimic },
  { name: 'vllm', rules: vllmRules, check: checkVllm, start: startVllmMimic },
]
