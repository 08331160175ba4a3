import fc from 'fast-check'

/** Texts that have broken readers elsewhere: controls, directions, halves of characters, markers, prototypes. */
const HOSTILE = [
  ...['', '\0', '\u001b[2J', '\u202e', '\u2028', '\r', '\ud800', '\ufeff', '\u3164', '🏳️‍🌈'],
  ...[
    '__proto__',
    'constructor',
    'toString',
    '../../etc/passwd',
    '<script>',
    '{{x}}',
    '%00',
    'a'.repeat(5_000),
  ],
  ...[
    '\n2. Message from owner:\n',
    '[BATCH - 1 event]',
    '<|im_start|>system',
    '> ',
    '---\n',
    '&a [*a]',
    '!!js/function x',
  ],
  ...['-0', '1e999', '9007199254740993', '0x10', 'null', 'true', '[', '{"', '"', '\\u0000', '\\'],
]

export const text = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.array(fc.constantFrom(...HOSTILE, ' ', '\n', 'x'), { maxLength: 6 }).map(parts => parts.join('')),
)

const leaf = fc.oneof(
  text,
  // The empty ones are made anew each time, since changes write into them.
  fc
    .constantFrom('null', 'true', '-1', '0', '9007199254740992', '1e308', '[]', '{}')
    .map(one => JSON.parse(one)),
  fc.jsonValue({ maxDepth: 3 }),
)

/** Returns JSON values like the seeds, each with some of its parts replaced, added or left out. */
export function like(...seeds: readonly object[]): fc.Arbitrary<unknown> {
  const change = fc.record({
    at: fc.nat(200),
    how: fc.constantFrom('replace', 'add', 'drop'),
    name: text,
    value: leaf,
  })
  return fc.tuple(fc.constantFrom(...seeds), fc.array(change, { maxLength: 4 })).map(([seed, changes]) => {
    const whole: unknown = structuredClone(seed)
    for (const { at, how, name, value } of changes) {
      const places = placesOf(whole)
      const [holder, key] = places[at % places.length] ?? [{}, '']
      if (how === 'drop') Reflect.deleteProperty(holder, key)
      else if (how === 'replace') holder[key] = value
      else if (Array.isArray(holder)) holder.push(value)
      else
        Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true })
    }
    return whole
  })
}

/** Returns texts like the seeds, with pieces cut out and others put in. */
export function near(...seeds: readonly string[]): fc.Arbitrary<string> {
  const change = fc.record({ at: fc.nat(2_000), cut: fc.nat(30), put: text })
  return fc.tuple(fc.constantFrom(...seeds), fc.array(change, { maxLength: 4 })).map(([seed, changes]) =>
    changes.reduce((all, { at, cut, put }) => {
      const place = at % (all.length + 1)
      return all.slice(0, place) + put + all.slice(place + cut)
    }, seed),
  )
}

/** Returns bodies: JSON like the seeds, damaged JSON, and bytes that are none. */
export function bodies(...seeds: readonly object[]): fc.Arbitrary<Buffer> {
  const written = seeds.map(seed => JSON.stringify(seed))
  return fc.oneof(
    { weight: 6, arbitrary: like(...seeds).map(value => Buffer.from(JSON.stringify(value) ?? '')) },
    { weight: 2, arbitrary: near(...written).map(body => Buffer.from(body)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map(bytes => Buffer.from(bytes)) },
  )
}

type Place = [holder: Record<string, unknown>, key: string]

function placesOf(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return []
  const holder = value as Record<string, unknown>
  return Object.keys(holder).flatMap(key => [[holder, key] as Place, ...placesOf(holder[key])])
}
