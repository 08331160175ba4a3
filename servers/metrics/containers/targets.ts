import { askAll, type FailedSource } from '../../kit/ask-all.ts'
import type { Container, Engine } from '../../kit/docker/engine.ts'
import { toNoEngine } from '../../kit/docker/find-engines.ts'
import { ToolFailure } from '../../kit/failure.ts'
import type { Cluster, Pod } from '../../kit/kubernetes/cluster.ts'
import { toListText } from '../../kit/render.ts'
import { quote } from '../../kit/text.ts'
import type { Sources } from './sources.ts'

/** A container or a pod, and its engine or cluster. Names are foreign text. */
export type Target =
  | { kind: 'container'; name: string; source: Engine; container: Container }
  | { kind: 'pod'; name: string; source: Cluster; pod: Pod }

/** The targets, and the engines and clusters that could not be asked. */
export interface Listing {
  readonly targets: readonly Target[]
  readonly failed: readonly FailedSource[]
}

const COMPOSE_SERVICE = 'com.docker.compose.service'
const APP_LABELS = ['app.kubernetes.io/name', 'app.kubernetes.io/instance', 'app', 'k8s-app']
const SHOWN = 15

/**
 * Lists all containers and pods, or those of one engine or cluster. Throws a ToolFailure if there is none of
 * that name or none at all; rejects with the first failure if no source answered.
 */
export async function listTargets(
  sources: Sources,
  engine: string | undefined,
  signal: AbortSignal,
): Promise<Listing> {
  const { found, failed } = await askAll(pickSources(sources, engine), source => list(source, signal), signal)
  const targets = found.flatMap(({ value }) => value)
  return { targets: targets.sort((a, b) => (a.name < b.name ? -1 : 1)), failed }
}

function pickSources(sources: Sources, name: string | undefined): (Engine | Cluster)[] {
  const all = [...sources.engines(), ...sources.clusters()]
  if (all.length === 0) throw toNoEngine()
  if (name === undefined) return all
  const found = all.filter(source => source.name.toLowerCase() === name.trim().toLowerCase())
  if (found.length > 0) return found
  throw new ToolFailure({
    what: `There is no engine or cluster called ${quote(name, 60)}.`,
    where: 'the engines and clusters that are looked after',
    why: `there is ${all.map(source => source.name).join(', ')}`,
    fix: 'Call it again with one of these names, or without engine for all.',
  })
}

async function list(source: Engine | Cluster, signal: AbortSignal): Promise<Target[]> {
  if ('pods' in source) {
    const pods = await source.pods({}, signal)
    return pods.map(pod => ({ kind: 'pod', name: `${pod.namespace}/${pod.name}`, source, pod }))
  }
  const containers = await source.list({ signal })
  return containers.map(container => ({ kind: 'container', name: container.name, source, container }))
}

/**
 * Returns the targets of exactly this name or id; else those of the Compose service or the app of this name.
 * May be empty.
 */
export function matchTargets(targets: readonly Target[], name: string): Target[] {
  const wanted = name.trim().replace(/^\//, '').toLowerCase()
  const exact = targets.filter(target => isNamed(target, wanted))
  return exact.length > 0 ? exact : targets.filter(target => isOf(target, wanted))
}

function isNamed(target: Target, wanted: string): boolean {
  if (target.name.toLowerCase() === wanted) return true
  if (target.kind === 'pod') return target.pod.name.toLowerCase() === wanted
  return wanted.length >= 12 && target.container.id.startsWith(wanted)
}

function isOf(target: Target, wanted: string): boolean {
  const labels = target.kind === 'pod' ? target.pod.labels : target.container.labels
  const names = target.kind === 'pod' ? APP_LABELS : [COMPOSE_SERVICE]
  return names.some(label => labels[label]?.toLowerCase() === wanted)
}

/**
 * Picks the only target of a name. Throws a ToolFailure that lists the targets if there are none or several.
 */
export function pickTarget({ targets, failed }: Listing, name: string): Target {
  const found = matchTargets(targets, name)
  const [only] = found
  if (only && found.length === 1) return only
  throw only ? toSeveral(name, found) : toUnknown({ targets, failed }, name)
}

/** Returns the failure of an unknown name, with similar names. */
export function toUnknown({ targets, failed }: Listing, name: string): ToolFailure {
  const wanted = name.trim().toLowerCase()
  const near = targets.filter(target => target.name.toLowerCase().includes(wanted))
  const silent = failed.map(({ source, reason }) => ` ${source} could not be asked: ${reason}`)
  return new ToolFailure({
    what: `There is no container or pod called ${quote(name, 100)}.`,
    where: 'the containers and pods of all engines asked',
    why: `${toNames(near.length > 0 ? near : targets)}.${silent.join('')}`,
    fix: 'Call it again with one of these names; get_container_status lists all.',
  })
}

function toSeveral(name: string, found: readonly Target[]): ToolFailure {
  const engines = new Set(found.map(({ source }) => source.name))
  return new ToolFailure({
    what: `${quote(name, 100)} means more than one; nothing was done.`,
    where: [...engines].join(', '),
    why: toNames(found),
    fix:
      engines.size > 1
        ? 'Call it again with engine, or with the full name.'
        : 'Call it again with the full name of one.',
  })
}

function toNames(targets: readonly Target[]): string {
  if (targets.length === 0) return 'there is none at all'
  return `there is ${toListText(targets, SHOWN, ({ name, source }) => `${quote(name, 100)} (${source.name})`)}`
}
