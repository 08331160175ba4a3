import { type Clock, timeoutSignal } from '../core/clock.ts'
import { parseJson } from '../core/json.ts'
import { decideRedirect, MOST_REDIRECTS } from '../core/redirect.ts'
import { toLine, truncate } from '../core/text.ts'
import type { Program } from './programs.ts'
import type { Answer, Recognised } from './recognise.ts'

export interface Found extends Recognised {
  program: Program
  /** Its base address, with the path at which it really answers. */
  address: string
}

interface FindOptions {
  programs: readonly Program[]
  /** Names of this machine; no other machine is ever asked. */
  hosts: readonly string[]
  clock: Clock
}

/** Milliseconds that each address has for all its answers. */
const TIMEOUT = 2_000
/** Characters of an answer that are read: pages name their program at the beginning. */
const LONGEST_ANSWER = 64 * 1024
const LONGEST_VERSION = 40

/** Asks all usual addresses of all programs at once; returns those that answered as the program does. Never throws. */
export async function findPrograms({ programs, hosts, clock }: FindOptions): Promise<Found[]> {
  const asked = programs.flatMap(program =>
    (program.probe?.ports ?? []).flatMap(port =>
      hosts.map(host => ask(program, `http://${host}:${port}`, clock)),
    ),
  )
  return (await Promise.all(asked)).filter(found => found !== undefined)
}

async function ask(program: Program, origin: string, clock: Clock): Promise<Found | undefined> {
  if (!program.probe) return undefined
  const { path, below = [], recognise } = program.probe
  const deadline = timeoutSignal(clock, TIMEOUT, origin)
  try {
    for (const base of ['', ...below]) {
      const { url, answer } = await read(new URL(`${base}${path}`, origin), deadline.signal)
      const recognised = recognise(answer)
      if (recognised) return { program, address: toBase(url, path), ...shorten(recognised) }
    }
    return undefined
  } catch {
    // Nothing listens there, or what listens does not speak HTTP.
    return undefined
  } finally {
    deadline.cancel()
  }
}

/** Reads the beginning of an answer; follows redirects on the same server, as to the path that a program is below. */
async function read(first: URL, signal: AbortSignal): Promise<{ url: URL; answer: Answer }> {
  let url = first
  for (let redirects = 0; ; redirects++) {
    const response = await fetch(url, { redirect: 'manual', signal })
    const text = await readStart(response)
    const { status, headers } = response
    const next = decideRedirect('GET', url, { status, location: headers.get('location') })
    const isSame = next?.origin === url.origin && redirects < MOST_REDIRECTS
    if (!isSame) return { url, answer: { status, headers, text, json: parseJson(text) } }
    url = next
  }
}

async function readStart({ body }: Response): Promise<string> {
  if (!body) return ''
  let text = ''
  // Leaving the loop cancels the stream.
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    text += part
    if (text.length >= LONGEST_ANSWER) break
  }
  return text
}

/** Returns the address without the path that was asked. */
function toBase({ origin, pathname }: URL, path: string): string {
  const [asked = ''] = path.split('?')
  return `${origin}${pathname.endsWith(asked) ? pathname.slice(0, -asked.length) : ''}`
}

function shorten({ version }: Recognised): Recognised {
  return version === undefined ? {} : { version: truncate(toLine(version), LONGEST_VERSION) }
}
