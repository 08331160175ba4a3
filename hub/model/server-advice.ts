import type { LocalServer } from './reported.ts'

const USUAL_CONTEXT = 32_768

/** Tells a person how to give a model a context of at least `tokens`. */
export function adviseContext(server: LocalServer | undefined, tokens: number): string {
  const context = Math.max(USUAL_CONTEXT, 2 ** Math.ceil(Math.log2(tokens)))
  switch (server) {
    case 'ollama':
      return `Set OLLAMA_CONTEXT_LENGTH=${context} where Ollama runs, or "PARAMETER num_ctx ${context}" in the model's Modelfile, and start it again.`
    case 'lm-studio':
      return `Load the model with a longer context: lms load MODEL --context-length ${context}.`
    case 'llama.cpp':
      return `Start llama-server with --ctx-size ${context}; with --parallel that is divided by the slots.`
    case 'vllm':
      return `Start vLLM with --max-model-len ${context}.`
    case undefined:
      return `Give the model a context of ${context} tokens where it runs, or the agent fewer tools.`
    default:
      return server satisfies never
  }
}

/** Tells a person how to make a server call tools. */
export function adviseTools(server: LocalServer | undefined): string {
  switch (server) {
    case 'ollama':
      return 'Choose a model for which "ollama show MODEL" lists tools.'
    case 'lm-studio':
      return 'Choose a model that LM Studio marks as trained for tool use.'
    case 'llama.cpp':
      return 'Start llama-server with --jinja, and choose a model whose chat template knows tools.'
    case 'vllm':
      return 'Start vLLM with --enable-auto-tool-choice and the --tool-call-parser of the model.'
    case undefined:
      return 'Choose a model that calls tools.'
    default:
      return server satisfies never
  }
}
