import type { HubFrame } from '../../schemas/chat.ts'

/** Watches whether an agent of the conversation works, and decides whether Ctrl+C stops or leaves: it stops once while an agent of the conversation works. */
export function createWorkWatch(conversation: string) {
  let agents = [conversation.split('/')[0] ?? conversation]
  const active = new Set<string>()
  let asked = false
  const isWorking = () => agents.some(name => active.has(name))
  return {
    isWorking,
    onFrame(frame: HubFrame) {
      if (frame.type === 'welcome') {
        agents = frame.conversations.find(({ id }) => id === conversation)?.agents ?? agents
        for (const { name, status } of frame.agents) if (status === 'active') active.add(name)
      }
      if (frame.type !== 'agent') return
      if (frame.status === 'active') active.add(frame.name)
      else active.delete(frame.name)
      if (!isWorking()) asked = false
    },
    /** Returns true once for each time that an agent works. */
    mayStop(): boolean {
      if (asked || !isWorking()) return false
      asked = true
      return true
    },
  }
}
