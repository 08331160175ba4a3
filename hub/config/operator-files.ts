import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { DROP_IN_FILES, type WatchedFiles } from './watch.ts'

/** Returns the SHA-256 of the config file, of each agent file and of each drop-in's files, by path. */
export function hashOperatorFiles(watched: WatchedFiles): Map<string, string> {
  const { configFile, agentsFolder, dropInsFolder } = watched
  const agents = namesIn(agentsFolder).filter(name => name.endsWith('.md'))
  const paths = [
    configFile,
    ...agents.map(name => join(agentsFolder, name)),
    ...namesIn(dropInsFolder).flatMap(folder => DROP_IN_FILES.map(name => join(dropInsFolder, folder, name))),
  ]
  const files = paths.filter(path => statSync(path, { throwIfNoEntry: false })?.isFile())
  return new Map(files.map(path => [path, hash('sha256', readFileSync(path))]))
}

/** Returns one hash of all that `hashOperatorFiles` reads, which is the same for equal files in other folders. */
export function hashOfOperatorFiles(watched: WatchedFiles, hashes = hashOperatorFiles(watched)): string {
  const { configFile, agentsFolder, dropInsFolder } = watched
  const lines = [...hashes].map(([path, sha256]) => {
    const kind = path === configFile ? 'config' : dirname(path) === agentsFolder ? 'agent' : 'drop-in'
    const name = { config: '', agent: basename(path), 'drop-in': relative(dropInsFolder, path) }[kind]
    return `${kind} ${name} ${sha256}`
  })
  return hash('sha256', lines.join('\n'))
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : []
}
