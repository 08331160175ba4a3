import { z } from 'zod'
import { defineMetaTool, type MetaTool } from './meta-tool.ts'

export function completeTask(): MetaTool {
  return defineMetaTool({
    name: 'complete_task',
    title: 'Done',
    description:
      'Says that what this cycle was about is done, with a summary for the record. Ends this cycle; put what people should read beside the call. Pending schedules stay. In a task it ends the task: the summary is its result, and its schedules are cancelled.',
    input: z.strictObject({ summary: z.string().min(1).max(8000) }),
    ends: true,
    async run(_tx, { summary }) {
      return { text: `Completed: ${summary}`, isError: false, structured: { summary } }
    },
  })
}
