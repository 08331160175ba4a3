import type { Disk, Disks } from '../../machine/machine.ts'
import { pickRealDisks } from '../../machine/mounts.ts'
import type { Sample } from './exposition.ts'
import type { Facts } from './facts.ts'

/**
 * Returns the filesystems of real disks, counted as df(1) does; mounts that the exporter could not read are
 * silent.
 */
export function toDisks(facts: Facts): Disks {
  const figures = (name: string) =>
    new Map(facts.all(`node_filesystem_${name}`).map(sample => [toKey(sample), sample.value]))
  const tables = {
    free: figures('free_bytes'),
    avail: figures('avail_bytes'),
    readOnly: figures('readonly'),
    files: figures('files'),
    filesFree: figures('files_free'),
  }
  const disks = facts.all('node_filesystem_size_bytes').flatMap(sample => toDisk(sample, tables))
  const failing = facts
    .all('node_filesystem_device_error')
    .filter(({ value }) => value === 1)
    .map(({ labels }) => toMount(labels))
  return {
    disks: pickRealDisks(disks),
    silent: pickRealDisks(failing).map(({ mount }) => mount),
  }
}

function toDisk(
  sample: Sample,
  tables: Record<'free' | 'avail' | 'readOnly' | 'files' | 'filesFree', ReadonlyMap<string, number>>,
): Disk[] {
  const key = toKey(sample)
  const free = tables.free.get(key)
  const avail = tables.avail.get(key)
  if (!(sample.value > 0) || free === undefined || avail === undefined) return []
  const used = sample.value - free
  const usable = used + avail
  const files = tables.files.get(key) ?? 0
  const filesFree = tables.filesFree.get(key)
  return [
    {
      ...toMount(sample.labels),
      readOnly: tables.readOnly.get(key) === 1,
      totalBytes: sample.value,
      usedBytes: used,
      freeBytes: avail,
      percent: usable > 0 ? (used / usable) * 100 : 100,
      ...(files > 0 && filesFree !== undefined ? { inodePercent: ((files - filesFree) / files) * 100 } : {}),
    },
  ]
}

function toMount(labels: Sample['labels']) {
  const { device = '', fstype = '', mountpoint = '' } = labels
  return { mount: mountpoint, device, type: fstype, readOnly: false }
}

function toKey({ labels }: Sample): string {
  return `${labels['device']} ${labels['mountpoint']}`
}
