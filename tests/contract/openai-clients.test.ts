import type OpenAI from 'openai'
import { expect, test } from 'vitest'
import { makePng } from '../support/make-png.ts'
import { say } from '../support/scripted-model.ts'
import {
  conversationsOf,
  messagesIn,
  postCompletion,
  startTalkHub,
  textIn,
  user,
} from '../support/talk-hub.ts'

/**
 * The body that Open WebUI sends for a chat (utils/middleware.py, routers/openai.py: generate_chat_completion), with
 * the headers of ENABLE_FORWARD_USER_INFO_HEADERS, or of a connection's own (utils/headers.py: parse_custom_headers).
 */
const OPEN_WEBUI = {
  stream: true,
  model: 'homelab',
  messages: [
    user('Is the disk full?'),
    { role: 'assistant', content: 'No.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'And this one?' },
        { type: 'image_url', image_url: { url: `data:image/jpg;base64,${makePng(40, 30)}` } },
      ],
    },
  ],
  stream_options: { include_usage: true },
  tools: [{ type: 'function', function: { name: 'search_web', parameters: { type: 'object' } } }],
}
const CHAT = { 'X-OpenWebUI-User-Id': 'u1', 'X-OpenWebUI-Chat-Id': '0b8f6d1e-6d0c-4f5e-9a53-2f1d6c1f7a10' }

test('Open WebUI: a chat is a conversation, and a picture arrives', async () => {
  await using world = await startTalkHub([say('Nearly.'), say('Yes.')])
  const { hub, model } = world
  const { status, headers, text } = await postCompletion(hub, OPEN_WEBUI, CHAT)
  expect([status, headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8'])
  expect(textIn(text)).toBe('Nearly.')
  const [asked] = model.requests.all
  expect(JSON.stringify(asked?.tools)).not.toContain('search_web')
  expect(JSON.stringify(asked?.messages)).toContain('image/png')
  // A placeholder that an older version does not know names no chat, and is no key.
  await postCompletion(hub, OPEN_WEBUI, {
    'X-OpenWebUI-Chat-Id': '{{CHAT_ID}}',
    'X-OpenWebUI-User-Message-Id': '{{USER_MESSAGE_ID}}',
  })
  const own = await conversationsOf(hub)
  expect(own).toEqual(['homelab/mcp-owner', expect.stringMatching(/^homelab\/mcp-owner\.[0-9a-f]{16}$/)])
})

const HISTORY =
  '### Chat History:\n<chat_history>\nUSER: Is the   disk full?\nASSISTANT: No.\n</chat_history>'
/** Requests of programs for themselves, from the sources that are named; shortened in the middle. */
const OWN: [string, object[], string][] = [
  [
    'Open WebUI, title (config.py: DEFAULT_TITLE_GENERATION_PROMPT_TEMPLATE)',
    [
      user(
        `### Task:\nGenerate a concise title summarizing the chat history.\n### Output:\nJSON format: { "title": "your concise title here" }\n${HISTORY}`,
      ),
    ],
    '{"title":"Is the disk full?"}',
  ],
  [
    'Open WebUI, tags',
    [
      user(
        `### Task:\nGenerate 1-3 broad tags categorizing the main themes\n### Output:\nJSON format: { "tags": ["tag1", "tag2", "tag3"] }\n\n${HISTORY}`,
      ),
    ],
    '{"tags":["General"]}',
  ],
  [
    'Open WebUI, follow-ups',
    [
      user(
        `### Task:\nSuggest 3-5 relevant follow-up questions\n### Output:\nJSON format: { "follow_ups": ["Question 1?"] }\n${HISTORY}`,
      ),
    ],
    '{"follow_ups":[]}',
  ],
  [
    'Open WebUI, searches',
    [
      user(
        `### Task:\nAnalyze the chat history to determine the necessity of generating search queries\n### Output:\n{\n  "queries": ["query1", "query2"]\n}\n${HISTORY}`,
      ),
    ],
    '{"queries":[]}',
  ],
  [
    'Open WebUI, completion',
    [
      user(
        `### Task:\nYou are an autocompletion system.\n5. If unsure, return: \`{ "text": "" }\`.\n${HISTORY}\n<text>Is</text>`,
      ),
    ],
    '{"text":""}',
  ],
  [
    'Open WebUI, tools (TOOLS_FUNCTION_CALLING)',
    [
      { role: 'system', content: 'Available Tools: []\n\n{\n  "tool_calls": []\n}' },
      user('Query: History:\nUSER: """hi"""\nQuery: hi'),
    ],
    '{"tool_calls":[]}',
  ],
  [
    'LibreChat (@librechat/agents, utils/title.ts)',
    [
      user(
        'Provide a concise, 5-word-or-less title for the conversation, using title case conventions. Only return the title itself.\n\nConversation:\nUser: Please tell me whether the disk of the big machine is full\nAI: No.',
      ),
    ],
    'Please tell me whether the disk of the…',
  ],
  [
    'Continue (core/util/chatDescriber.ts)',
    [
      user(
        'Given the following... please reply with a title for the chat that is 3-4 words in length, no additional text.\n\nNo, it is not.',
      ),
    ],
    'No, it is not.',
  ],
]
test.each(OWN)('%s: is answered without the agent', async (_what, messages, expected) => {
  await using world = await startTalkHub()
  const whole = await postCompletion(world.hub, { model: 'homelab', messages, stream: false }, CHAT)
  expect(whole.json).toMatchObject({ choices: [{ message: { content: expected } }] })
  const streamed = await postCompletion(world.hub, { model: 'homelab', messages, stream: true }, CHAT)
  expect(textIn(streamed.text)).toBe(expected)
  expect(await conversationsOf(world.hub)).toEqual([])
})

test('Open WebUI: its headers tell a task in any words, and a message that is sent again', async () => {
  await using world = await startTalkHub([say('Once.')])
  const task = { model: 'homelab', messages: [user('Erfinde einen Titel: { "title": "…" }\n\nUSER: Hallo')] }
  const { json } = await postCompletion(world.hub, task, { ...CHAT, 'X-OpenWebUI-Task': 'title_generation' })
  expect(json).toMatchObject({ choices: [{ message: { content: '{"title":"Hallo"}' } }] })
  const headers = { ...CHAT, 'X-OpenWebUI-User-Message-Id': 'm1', 'X-OpenWebUI-Task': '' }
  for (const _time of ['sent', 'regenerated'])
    expect(textIn((await postCompletion(world.hub, OPEN_WEBUI, headers)).text)).toBe('Once.')
  expect(world.model.requests.all).toHaveLength(1)
})

test('Open WebUI: a question about a document is the person’s, though it begins like a task', async () => {
  await using world = await startTalkHub([say('It says so.')])
  // config.py: DEFAULT_RAG_TEMPLATE
  const text = `### Task:\nRespond to the user query using the provided context.\n<context>\n${HISTORY}\n</context>\nWhat?`
  await postCompletion(world.hub, { model: 'homelab', messages: [user(text)] })
  expect(await messagesIn(world.hub, 'homelab/mcp-owner')).toEqual([`user: ${text}`, 'agent: It says so.'])
})

/** Requests of Home Assistant's integrations, as their sources build them. */
const HOME_ASSISTANT: [string, object][] = [
  [
    'extended_openai_conversation (conversation.py: query)',
    {
      model: 'homelab',
      messages: [
        { role: 'system', content: 'Available devices: …' },
        { ...user('Turn it off'), name: 'u1' },
      ],
      max_tokens: 150,
      top_p: 1,
      temperature: 0.5,
      user: '01JABCDEF0123456789ABCDEFG',
      tools: [{ type: 'function', function: { name: 'execute_services', parameters: {} } }],
      tool_choice: 'auto',
    },
  ],
  [
    'Local LLMs (backends/generic_openai.py: _generate_stream)',
    {
      model: 'homelab',
      stream: true,
      max_tokens: 512,
      temperature: 0.1,
      top_p: 1,
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'You are Al.' }] },
        { role: 'user', content: [{ type: 'text', text: 'Turn it off' }] },
      ],
    },
  ],
  [
    'open_router (entity.py: _async_handle_chat_log)',
    {
      model: 'homelab',
      stream: true,
      user: '01JABCDEF0123456789ABCDEFG',
      messages: [{ role: 'system', content: 'You are a voice assistant.' }, user('Turn it off')],
      provider: { require_parameters: true },
    },
  ],
]
test.each(HOME_ASSISTANT)('Home Assistant, %s', async (_what, body) => {
  await using world = await startTalkHub([say('It is off.')])
  const { text, json } = await postCompletion(world.hub, body)
  const said = 'stream' in body ? textIn(text) : (json as OpenAI.ChatCompletion).choices[0]?.message.content
  expect(said).toBe('It is off.')
  const [conversation = ''] = await conversationsOf(world.hub)
  expect(conversation.includes('.')).toBe('user' in body)
  expect(await messagesIn(world.hub, conversation)).toEqual(['user: Turn it off', 'agent: It is off.'])
})
