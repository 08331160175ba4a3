import { readdir, readlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Temperature } from './machine.ts'
import { type Roots, readNumber, readText } from './roots.ts'

/**
 * Plausible range in °C: open inputs and broken chips report values outside it (-62, 127.5, 255), except the
 * 0.0 of a dead zone.
 */
const PLAUSIBLE = { above: -40, below: 125 }

/** Reads the temperatures of all sensors that the kernel knows; empty if there is none. */
export async function readTemperatures(roots: Roots): Promise<Temperature[]> {
  const hwmon = await readHwmon(join(roots.sys, 'class/hwmon'))
  return hwmon.length > 0 ? hwmon : readThermalZones(join(roots.sys, 'class/thermal'))
}

/**
 * Reads hwmon (Documentation/hwmon/sysfs-interface): tempN_input in thousandths of a degree, tempN_label,
 * _crit, _fault.
 */
async function readHwmon(folder: string): Promise<Temperature[]> {
  const chips = await Promise.all(
    (await list(folder)).map(async name => ({ ...(await readChip(join(folder, name))) })),
  )
  const names = chips.map(chip => chip.name)
  return unique(
    chips.flatMap(({ name, device, sensors }) => {
      const shared = names.filter(other => other === name).length > 1
      const chip = shared && device !== undefined ? `${name} ${device}` : name
      return sensors.map(sensor => ({ ...sensor, sensor: `${chip} ${sensor.sensor}` }))
    }),
  )
}

async function readChip(folder: string) {
  const inputs = (await list(folder)).flatMap(file => /^(temp\d+)_input$/.exec(file)?.[1] ?? [])
  const sensors = await Promise.all(inputs.sort(byNumber).map(input => readSensor(folder, input)))
  return {
    name: (await readText(join(folder, 'name'))) ?? basename(folder),
    device: await readDevice(folder),
    sensors: sensors.flat(),
  }
}

async function readSensor(folder: string, input: string): Promise<Temperature[]> {
  const [value, label, critical, fault] = await Promise.all([
    readNumber(join(folder, `${input}_input`)),
    readText(join(folder, `${input}_label`)),
    readNumber(join(folder, `${input}_crit`)),
    readNumber(join(folder, `${input}_fault`)),
  ])
  return fault === 1 ? [] : toTemperature(label || input, value, critical)
}

/** Reads the thermal zones of small boards, which have no hwmon. */
async function readThermalZones(folder: string): Promise<Temperature[]> {
  const zones = (await list(folder)).filter(name => name.startsWith('thermal_zone')).sort(byNumber)
  const found = await Promise.all(
    zones.map(async zone => {
      const type = (await readText(join(folder, zone, 'type'))) ?? zone
      return toTemperature(type, await readNumber(join(folder, zone, 'temp')))
    }),
  )
  return unique(found.flat())
}

/** Converts thousandths of a degree; returns none if the value is one that broken sensors report. */
export function toTemperature(sensor: string, value: number | undefined, critical?: number): Temperature[] {
  const isPlausible = (celsius: number) => celsius > PLAUSIBLE.above && celsius < PLAUSIBLE.below
  if (value === undefined || !isPlausible(value / 1000)) return []
  const known = critical !== undefined && critical > 0 && isPlausible(critical / 1000)
  return [{ sensor, celsius: value / 1000, ...(known ? { criticalCelsius: critical / 1000 } : {}) }]
}

/** Makes names differ, since they identify events; a name that is still shared gets a number. */
export function unique(temperatures: readonly Temperature[]): Temperature[] {
  const seen = new Map<string, number>()
  return temperatures.map(temperature => {
    const count = (seen.get(temperature.sensor) ?? 0) + 1
    seen.set(temperature.sensor, count)
    return count === 1 ? temperature : { ...temperature, sensor: `${temperature.sensor} #${count}` }
  })
}

async function list(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort(byNumber)
  } catch {
    return [] // no such class of devices on this machine
  }
}

/** Returns a chip's device ("nvme0"): hwmon's own numbers change from boot to boot. */
async function readDevice(folder: string): Promise<string | undefined> {
  try {
    return basename(await readlink(join(folder, 'device')))
  } catch {
    return undefined // a virtual chip has no device
  }
}

function byNumber(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}
