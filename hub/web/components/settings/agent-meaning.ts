import type { AgentMeaning } from '../../../../schemas/agent-edit.ts'
import { useNow } from '../../hooks.ts'
import { html } from '../../html.ts'
import { count, dayAndTime, relative } from '../../time.ts'
import { toolWords } from '../../words.ts'
import { Time } from '../time.ts'

const ANSWERS = { run: 'runs', ask: 'asks for a yes', refuse: 'is refused' } as const
const CLASSES = {
  look: 'only looks',
  change: 'changes something',
  destroy: 'destroys',
  send: 'reaches out',
} as const

/** Says in words what an agent's file means now. */
export function AgentMeaningView({ meaning }: { meaning: AgentMeaning }) {
  const { tools, unmatched, schedules, events, limits, shared, model } = meaning
  const now = useNow(30_000)
  const asking = tools.filter(({ person }) => person !== 'run').length
  const alone = tools.filter(({ toolClass, routine }) => toolClass !== 'look' && routine === 'run').length
  return html`<dl class="facts meaning">
    <div><dt>Tools</dt><dd>${count(tools.length, 'tool')}${tools.length > 0 && `: ${asking} ask you first, ${alone} change something without being asked`}</dd></div>
    ${unmatched.length > 0 && html`<div><dt>Matches no tool now</dt><dd><code>${unmatched.join(' ')}</code></dd></div>`}
    ${schedules.map(
      ({ cron, reason, timezone, nextRun }) => html`<div key=${`${cron} ${reason}`}><dt>${reason}</dt>
        <dd>${nextRun === undefined ? 'never again' : html`next <${Time} at=${nextRun}>${dayAndTime(nextRun, now)}, ${relative(nextRun, now)}<//>`} (<code>${cron}</code>, ${timezone})</dd></div>`,
    )}
    <div><dt>Woken by</dt><dd>${events.join(', ') || 'no event'}</dd></div>
    <div><dt>Talks with</dt><dd>${sharedWords(shared)}</dd></div>
    <div><dt>Limits of one waking</dt><dd>${limits.steps} steps, ${limits.minutes} minutes, ${count(limits.tokens, 'token')}, ${limits.calls} calls</dd></div>
    <div><dt>Limits of a day</dt><dd>${count(limits.tokensPerDay, 'token')}${limits.moneyPerDay !== undefined && `, ${limits.moneyPerDay} in money`}, ${limits.wakesPerDay} wakings by itself</dd></div>
    ${model !== 'default' && html`<div><dt>Model</dt><dd>${model}</dd></div>`}
  </dl>
  ${
    tools.length > 0 &&
    html`<details class="fold"><summary>Each tool</summary><ul class="fold-list">
    ${tools.map(
      ({ tool, toolClass, person, routine }) =>
        html`<li key=${tool}><b>${toolWords(tool)}</b> <code>${tool}</code> ${CLASSES[toolClass]}; when you ask it ${ANSWERS[person]}${routine !== person && `, by itself it ${ANSWERS[routine]}`}</li>`,
    )}
  </ul></details>`
  }`
}

function sharedWords(shared: AgentMeaning['shared']) {
  if (shared === false) return 'the owner'
  const each = 'members and guests too, each in conversations of their own'
  return shared === true ? each : `${each}; members also in ${shared.join(', ')}`
}
