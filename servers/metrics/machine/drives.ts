import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Drive } from './machine.ts'
import { type Roots, readNumber, readText } from './roots.ts'
import { parseSmart, type SmartReport } from './smart.ts'

const SECTOR = 512
const MAX_OUTPUT = 4 * 1024 * 1024
/**
 * Block devices that are not drives: images, memory, arrays and volumes, optical and floppy drives, network
 * blocks.
 */
const NO_DRIVE = /^(loop|ram|zram|dm-|md|sr|fd|nbd|drbd|zd)/

/** Drives that a hypervisor makes. */
const VIRTUAL = /^(vd|xvd)/
const NO_SMART: SmartReport = { warnings: [], unknown: 'a virtual drive, which has no SMART' }

/** Runs smartctl with the arguments and returns its output; rejects with ENOENT if it is not installed. */
export type RunSmartctl = (args: readonly string[], signal: AbortSignal) => Promise<string>

/** Creates the runner. It ignores smartctl's exit code, which describes the drive: the output counts. */
export function createSmartctl(command = 'smartctl'): RunSmartctl {
  return (args, signal) =>
    new Promise((resolve, reject) => {
      execFile(command, args, { signal, maxBuffer: MAX_OUTPUT }, (error, stdout) => {
        if (error && typeof error.code !== 'number') reject(error)
        else resolve(stdout)
      })
    })
}

/**
 * Reads all drives one after the other, so as not to load a bus with all at once. Sleeping drives are not
 * woken.
 */
export async function readDrives(roots: Roots, run: RunSmartctl, signal: AbortSignal): Promise<Drive[]> {
  const drives: Drive[] = []
  for (const name of await listDrives(roots)) {
    const report = VIRTUAL.test(name) ? NO_SMART : await readSmart(`/dev/${name}`, run, signal)
    drives.push({ ...(await readBlockDevice(roots, name)), ...report })
  }
  return drives
}

async function listDrives(roots: Roots): Promise<string[]> {
  const names = await readdir(join(roots.sys, 'block'))
  const sizes = await Promise.all(names.map(name => readNumber(join(roots.sys, 'block', name, 'size'))))
  return names.filter((name, index) => !NO_DRIVE.test(name) && (sizes[index] ?? 0) > 0).sort()
}

async function readBlockDevice(roots: Roots, name: string): Promise<Drive> {
  const folder = join(roots.sys, 'block', name)
  const [sectors, model, rotational] = await Promise.all([
    readNumber(join(folder, 'size')),
    readText(join(folder, 'device/model')),
    readNumber(join(folder, 'queue/rotational')),
  ])
  const kind = name.startsWith('nvme') ? 'nvme' : rotational === 1 ? 'hdd' : 'ssd'
  return {
    device: `/dev/${name}`,
    warnings: [],
    model: model || undefined,
    kind: VIRTUAL.test(name) ? undefined : kind,
    sizeBytes: sectors && sectors * SECTOR,
  }
}

async function readSmart(device: string, run: RunSmartctl, signal: AbortSignal): Promise<SmartReport> {
  try {
    return parseSmart(await run(['--nocheck=standby', '--all', '--json', device], signal))
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return { warnings: [], unknown: 'smartctl is not installed here (package smartmontools)' }
    }
    return {
      warnings: [],
      unknown: `smartctl failed: ${error instanceof Error ? error.message : String(error)}`,
    }
  }
}
