import type { Turn } from './mimic.ts'

const usage = { input: 120, cached: 40, output: 7 }

/** A cycle that every mimic can play: parallel calls, the reply after their results, a silent reply. */
export const STORY = [
  {
    reasoning: 'Both clocks.',
    text: 'I look.',
    calls: [
      { name: 'get_time', arguments: { at: 'home' } },
      { name: 'get_time', arguments: { at: 'sea' } },
    ],
    usage,
  },
  { text: 'It is noon.', usage },
  { reasoning: 'Nothing to say.', usage },
] as const satisfies readonly Turn[]
