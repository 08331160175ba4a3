import { expect, test } from 'vitest'
import { createFindAgents } from './find-agents.ts'

/** Makes agents, and counts how often something of one is looked at. */
function makeAgents(count: number) {
  const seen = { looks: 0 }
  const agents = Array.from({ length: count }, (_, index) => ({
    get name() {
      seen.looks++
      return `agent-${index}`
    },
    get conversations() {
      seen.looks++
      return [`agent-${index}`, 'family']
    },
    get events() {
      seen.looks++
      return index === 3 ? ['cpu_high'] : []
    },
  }))
  return { agents, seen }
}

test('10,000 agents cost a post as much as ten: none is looked at but those of its conversation', () => {
  const counts = [10, 10_000].map(count => {
    const { agents, seen } = makeAgents(count)
    const find = createFindAgents(() => agents)
    find.ofConversation('agent-1')
    seen.looks = 0
    for (let index = 0; index < 100; index++) {
      const conversation = `agent-${index % 10}/c${index}`
      expect(find.ofConversation(conversation).map(({ name }) => name)).toEqual([`agent-${index % 10}`])
    }
    expect(find.listingEvents().map(({ name }) => name)).toEqual(['agent-3'])
    return seen.looks
  })
  expect(counts[1]).toBe(counts[0])
})

test('the agents of a conversation come in the order of the list, each once, and a new list counts at once', () => {
  const agent = (name: string, ...conversations: string[]) => ({ name, conversations, events: [] })
  let agents = [
    agent('aunt', 'family'),
    agent('family', 'family', 'family/plans'),
    agent('uncle', 'family', 'family/plans'),
  ]
  const find = createFindAgents(() => agents)
  const namesOf = (conversation: string) => find.ofConversation(conversation).map(({ name }) => name)
  expect(namesOf('family')).toEqual(['aunt', 'family', 'uncle'])
  expect(namesOf('family/plans')).toEqual(['family', 'uncle'])
  expect(namesOf('family/other')).toEqual(['family'])
  expect(namesOf('nobody')).toEqual([])
  agents = [agent('nobody', 'nobody')]
  expect(namesOf('nobody')).toEqual(['nobody'])
  expect(namesOf('family')).toEqual([])
})
