import { parseJson } from '../../core/json.ts'
import type { BatchItem, ModelTool } from '../../core/model.ts'
import { truncate } from '../../core/text.ts'
import type { Outcome } from './cycle.ts'
import { sayHelp } from './help.ts'
import { searchTools } from './match.ts'
import { type Plan, planCall, type Scene, say, toCallText, toToolLine, wordOutcome } from './plan.ts'
import { decideReminder } from './reminders.ts'
import { toWords } from './words.ts'

const MOST_LISTED = 60
const MOST_FOUND = 12

/** Plans what a message that begins with a slash leads to; undefined for one that is no command. */
export function decideSlash(item: BatchItem, scene: Scene, outcomes: Outcome[]): Plan | undefined {
  const [, command, rest = ''] = /^\/([a-z]+)(?![\w/.])\s*(.*)$/is.exec(item.text.trim()) ?? []
  switch (command?.toLowerCase()) {
    case undefined:
      return undefined
    case 'help':
      return say(sayHelp(scene.tools))
    case 'tools':
      return say(sayTools(rest, scene.tools))
    case 'call':
      return outcomes[0] ? say(wordOutcome(outcomes[0])) : decideCall(rest, scene.tools)
    case 'remind':
      return decideReminder(rest, item, scene, outcomes)
    case 'schedules':
      return decideSchedules(rest, outcomes)
    default:
      return say(
        `There is no command /${truncate(command ?? '', 40)}. There are /tools, /call, /remind, /schedules, /models and /help.`,
      )
  }
}

function sayTools(words: string, tools: readonly ModelTool[]): string {
  if (words.trim() === '') {
    const more = tools.length - MOST_LISTED
    const lines = tools.slice(0, MOST_LISTED).map(toToolLine)
    return [...lines, ...(more > 0 ? [`… and ${more} more: \`/tools words\` looks for some.`] : [])].join(
      '\n',
    )
  }
  const exact = tools.find(({ name }) => name === words.trim())
  if (exact) {
    const schema = JSON.stringify(exact.inputSchema, null, 1)
    return `${exact.description}\n\n${toCallText(exact.name, {})}, with these arguments:\n\`\`\`json\n${schema}\n\`\`\``
  }
  const found = searchTools(toWords(words), tools).slice(0, MOST_FOUND)
  return found.length > 0
    ? found.map(toToolLine).join('\n')
    : `No tool fits “${truncate(words, 100)}”. \`/tools\` lists all.`
}

/** Plans a call that a person typed: it runs where it only reads, else it waits for a yes. */
function decideCall(rest: string, tools: readonly ModelTool[]): Plan {
  const [, name = '', json = ''] = /^`?([^\s{`]+)`?\s*(.*)$/s.exec(rest.trim()) ?? []
  const tool = tools.find(each => each.name === name)
  if (!tool) {
    const near = searchTools(toWords(name.replaceAll('_', ' ')), tools)
      .slice(0, 3)
      .map(toToolLine)
    const lead = name === '' ? 'Which tool, and with what?' : `There is no tool ${truncate(name, 80)}.`
    return say(
      [`${lead} Nothing ran. It looks like ${toCallText('get_processes', { limit: 5 })}.`, ...near].join(
        '\n',
      ),
    )
  }
  const args = json.trim() === '' ? {} : parseJson(json)
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    return say(`What follows ${name} is no JSON object such as \`{"limit": 5}\`. Nothing ran.`)
  return planCall(tool, { ...args })
}

/** Lists the schedules, or cancels one of them. */
export function decideSchedules(rest: string, [done]: Outcome[]): Plan {
  const [, id] = /^cancel\s+(\S+)$/i.exec(rest.trim()) ?? []
  if (done) {
    const hint =
      id === undefined && !done.isError && /\bsch_/.test(done.text)
        ? '\n\n`/schedules cancel sch_…` cancels one.'
        : ''
    return say(done.isError ? wordOutcome(done) : `${done.text}${hint}`)
  }
  if (rest.trim() !== '' && id === undefined)
    return say('`/schedules` lists what is scheduled, `/schedules cancel sch_…` cancels one.')
  return {
    kind: 'call',
    ...(id === undefined
      ? { name: 'list_schedules', arguments: {} }
      : { name: 'cancel_schedule', arguments: { id } }),
  }
}
