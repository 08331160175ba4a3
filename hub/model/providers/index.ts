import type { ProviderName } from '../../../schemas/providers.ts'
import type { Provider } from '../adapter.ts'
import { anthropic } from './anthropic.ts'
import { compatible } from './compatible.ts'
import { deepseek } from './deepseek.ts'
import { google } from './google.ts'
import { mistral } from './mistral.ts'
import { openai } from './openai.ts'
import { openrouter } from './openrouter.ts'

export const providers: Readonly<Record<ProviderName, Provider>> = {
  openai,
  anthropic,
  google,
  mistral,
  deepseek,
  openrouter,
  compatible,
}
