import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Licences of packages that name none in their package.json, with the reason why we know them. */
const FOUND: Readonly<Record<string, { id: string; why: string }>> = {
  'emitter-component@1.1.2': {
    id: 'MIT',
    why: 'its component.json says so; nothing loads it, since Node has its own stream in place of the package that wants it',
  },
  'gbxremote@0.2.1': { id: 'MIT', why: 'its LICENSE file says so, and package.json in a field of old' },
}

interface Component {
  'bom-ref': string
  licenses?: ({ license: { id?: string; name?: string } } | { expression: string })[]
}

/** A software bill of materials in CycloneDX, with the fields that are read here. */
interface Sbom {
  serialNumber?: string
  metadata: { timestamp?: string; component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn?: string[] }[]
}

interface Lock {
  packages: Record<string, { name?: string; version: string; dev?: boolean }>
}

/**
 * Writes into `folder` what the program in `root` is made of, by its lock file: sbom.cdx.json, and licenses.txt
 * with a line for each package. Throws if a package has no licence that is known.
 */
export function writeSbom(root: string, folder: string): void {
  const sbom = readSbom(root)
  const unknown = sbom.components.filter(one => !one.licenses).map(one => one['bom-ref'])
  if (unknown.length > 0)
    throw new Error(
      `${unknown.join(', ')}: no licence in package.json; find it, and name it in scripts/sbom.ts`,
    )
  const lines = sbom.components.map(one => `${one['bom-ref']}: ${toLicense(one)}\n`)
  writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(sbom, undefined, 2)}\n`)
  writeFileSync(join(folder, 'licenses.txt'), lines.join(''))
}

/** Has npm list all packages, and leaves out those for development, as well as what differs at every build. */
function readSbom(root: string): Sbom {
  // npm's own --omit=dev, the default where NODE_ENV says production, leaves out too much: whatever a package for
  // development uses as well.
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--include=dev']
  const text = execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 })
  const { serialNumber: _, metadata, components, dependencies, ...rest } = JSON.parse(text) as Sbom
  const { timestamp: __, ...about } = metadata
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock
  const shipped = new Set([metadata.component['bom-ref'], ...toRefs(packages)])
  return {
    ...rest,
    metadata: about,
    components: components.filter(one => shipped.has(one['bom-ref'])).map(withFound),
    dependencies: dependencies
      .filter(({ ref }) => shipped.has(ref))
      .map(one => ({ ...one, dependsOn: (one.dependsOn ?? []).filter(ref => shipped.has(ref)) })),
  }
}

function toRefs(packages: Lock['packages']): string[] {
  return Object.entries(packages).flatMap(([path, { name, version, dev }]) => {
    const folder = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    return path === '' || dev ? [] : [`${name ?? folder}@${version}`]
  })
}

function withFound(component: Component): Component {
  const found = FOUND[component['bom-ref']]
  return found && !component.licenses
    ? { ...component, licenses: [{ license: { id: found.id } }] }
    : component
}

function toLicense(component: Component): string {
  const known = (component.licenses ?? []).map(one =>
    'expression' in one ? one.expression : (one.license.id ?? one.license.name),
  )
  const found = FOUND[component['bom-ref']]
  return `${known.join(', ')}${found ? ` (${found.why})` : ''}`
}
