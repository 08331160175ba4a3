import { expect, test } from 'vitest'
import { type OfferKind, readList } from './offer.ts'

/** Reads the list of a server that has these entries; returns what was read, and what was left out. */
async function read(kind: OfferKind, entries: unknown[]) {
  const leftOut: string[] = []
  const capabilities = { tools: {}, resources: {}, prompts: {} }
  const answer = async () => ({ [kind]: entries })
  const reasons: string[] = []
  const list = await readList(kind, capabilities, answer, (name, reason) => {
    leftOut.push(name)
    reasons.push(reason)
  })
  return { list, leftOut, reasons }
}

test('a tool for which clients would refuse the whole list is left out', async () => {
  const good = { name: 'good', inputSchema: { type: 'object' }, 'x-other': 1 }
  const wrong = ['description', 'annotations', 'title', 'outputSchema'].map(key => ({
    ...good,
    name: key,
    [key]: 42,
  }))
  const { list, leftOut, reasons } = await read('tools', [...wrong, good, { name: 7 }, null])
  expect(list).toEqual([good])
  expect(leftOut).toEqual([
    'description',
    'annotations',
    'title',
    'outputSchema',
    '7',
    'one that is no object',
  ])
  expect(reasons[0]).toBe('description: expected string, received number')
  expect(reasons.at(-1)).toBe('the whole: expected object, received null')
})

test('of a server with very many tools the first thousand are listed', async () => {
  const many = Array.from({ length: 1_002 }, (_, at) => ({ name: `t${at}`, inputSchema: { type: 'object' } }))
  const { list, leftOut, reasons } = await read('tools', many)
  expect(list).toEqual(many.slice(0, 1_000))
  expect([leftOut, reasons]).toEqual([['2 more tools'], ['a server may have 1000']])
})

test('what can be read but not written again is left out', async () => {
  const deep: unknown = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)
  const tool = { name: 'deep', inputSchema: { type: 'object', properties: { deep } } }
  expect(await read('tools', [tool])).toEqual({
    list: [],
    leftOut: ['deep'],
    reasons: ['it is nested too deeply, or wrong deep inside'],
  })
})

test('null in an optional field takes the field away, and not the tool', async () => {
  const asked = { type: 'object', properties: { at: { type: ['string', 'null'], default: null } } }
  const { list, leftOut } = await read('tools', [
    {
      name: 'look',
      title: null,
      description: null,
      inputSchema: { ...asked, required: null, additionalProperties: null, default: null },
      outputSchema: null,
      annotations: { title: null, readOnlyHint: true, idempotentHint: null },
      icons: [{ src: 'https://x/y.png', mimeType: null }],
      _meta: null,
    },
    { name: 'none', inputSchema: null, annotations: null },
  ])
  expect(leftOut).toEqual([])
  expect(list).toEqual([
    {
      name: 'look',
      inputSchema: { ...asked, default: null },
      annotations: { readOnlyHint: true },
      icons: [{ src: 'https://x/y.png' }],
    },
    { name: 'none', inputSchema: { type: 'object' } },
  ])
  const prompt = { name: 'ask', description: null, arguments: [{ name: 'what', required: null }] }
  expect((await read('prompts', [prompt])).list).toEqual([{ name: 'ask', arguments: [{ name: 'what' }] }])
  const resource = { uri: 'a:b', name: 'b', mimeType: null, size: null, annotations: null }
  expect((await read('resources', [resource])).list).toEqual([{ uri: 'a:b', name: 'b' }])
})

test('a tool gets the schema that it lacks', async () => {
  const { list } = await read('tools', [
    { name: 'none' },
    { name: 'no type', inputSchema: { properties: {} } },
  ])
  expect(list).toEqual([
    { name: 'none', inputSchema: { type: 'object' } },
    { name: 'no type', inputSchema: { properties: {}, type: 'object' } },
  ])
})

test('addresses and prompts need what clients need of them', async () => {
  expect(await read('resources', [{ uri: 'a:b', name: 'b' }, { uri: 'a:c' }])).toMatchObject({
    list: [{ uri: 'a:b' }],
    leftOut: ['a:c'],
  })
  expect((await read('prompts', [{ name: 'a', arguments: 'none' }])).list).toEqual([])
})

/** Lists tools page by page; the cursor is the page's number. */
function pages(list: (page: number) => { tools: unknown[]; nextCursor?: string }) {
  return readList(
    'tools',
    { tools: {} },
    async (_method, params) => list(Number(params['cursor'] ?? 0)),
    String,
  )
}

test('pages after an empty one are not lost', async () => {
  const tool = { name: 'late', inputSchema: { type: 'object' } }
  expect(await pages(page => (page === 0 ? { tools: [], nextCursor: '1' } : { tools: [tool] }))).toEqual([
    tool,
  ])
})

test('a server whose empty pages never end is refused like one with endless pages', async () => {
  let asked = 0
  const endless = pages(page => {
    asked++
    return { tools: [], nextCursor: String(page + 1) }
  })
  await expect(endless).rejects.toThrow('tools/list has over 100 pages')
  expect(asked).toBe(100)
})

test('a server whose pages are endless and large is refused before they fill the memory', async () => {
  let asked = 0
  const tool = { name: 'large', description: 'x'.repeat(8 * 1024 * 1024), inputSchema: { type: 'object' } }
  const endless = pages(page => {
    asked++
    return { tools: [tool], nextCursor: String(page + 1) }
  })
  await expect(endless).rejects.toThrow('tools/list gave over 33554432 characters')
  expect(asked).toBe(4)
})
