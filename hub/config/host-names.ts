import { isMap, isSeq } from 'yaml'
import { HubError } from '../core/errors.ts'
import { insert, says, toJson } from './edit-yaml.ts'
import type { Config } from './load.ts'
import { readDocument } from './yaml-document.ts'

/**
 * Returns the text of a config file with names added to `hosts`; every other character, comments too, stays. Throws
 * `conflict`, with what to write by hand, where the file is written in a way that cannot be changed safely.
 */
export function addHosts({ file, text }: { file: string; text: string }, names: readonly string[]): string {
  const { document, problems } = readDocument(text)
  const before = toJson(document)
  const known: unknown[] = Array.isArray(before['hosts']) ? before['hosts'] : []
  const added = names.filter(name => !known.includes(name))
  if (added.length === 0) return text
  const changed = write(text, document.contents, added)
  const expected = { ...before, hosts: [...added, ...known] }
  if (problems.length === 0 && changed !== undefined && says(changed, expected)) return changed
  throw new HubError(
    'conflict',
    `${file}: cannot be changed safely: write ${toHostsLine([...known, ...added])} by hand.`,
  )
}

/** Returns the line of a config file that names hosts. */
export function toHostsLine(names: readonly unknown[]): string {
  return `hosts: [${names.map(name => JSON.stringify(name)).join(', ')}]`
}

/** Writes names before those that are there, or begins the list; undefined where the list is something else. */
function write(text: string, contents: unknown, names: readonly string[]): string | undefined {
  if (isMap(contents) && contents.has('hosts')) {
    const list = contents.get('hosts', true)
    if (!isSeq(list) || !list.range) return undefined
    const [from] = list.range
    const quoted = names.map(name => JSON.stringify(name))
    if (list.flow) {
      const rest = list.items.length > 0 ? ', ' : ''
      return `${text.slice(0, from + 1)}${quoted.join(', ')}${rest}${text.slice(from + 1)}`
    }
    const indent = text.slice(text.lastIndexOf('\n', from - 1) + 1, from)
    return text.slice(0, from) + quoted.map(name => `- ${name}\n${indent}`).join('') + text.slice(from)
  }
  if (isMap(contents) && contents.flow)
    return insert(text, contents, 'hosts', toHostsLine(names).slice('hosts: '.length))
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${toHostsLine(names)}\n`
}

/** Returns the names besides loopback that Host and Origin may contain. */
export function ownNames({ publicUrl, hosts, host }: Config): string[] {
  const listening = host === '0.0.0.0' || host === '::' ? [] : [host.includes(':') ? `[${host}]` : host]
  return [...hosts, ...listening, ...(publicUrl ? [new URL(publicUrl).hostname] : [])]
}
