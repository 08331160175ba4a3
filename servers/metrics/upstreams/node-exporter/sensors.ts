import type { Temperature } from '../../machine/machine.ts'
import { toTemperature, unique } from '../../machine/sensors.ts'
import type { Sample } from './exposition.ts'
import type { Facts } from './facts.ts'

/**
 * Names sensors as the machine itself would: "coretemp Package id 0". Uses thermal zones if there is no other
 * sensor.
 */
export function toTemperatures(facts: Facts): Temperature[] {
  const chips = new Map(
    facts.all('node_hwmon_chip_names').map(({ labels }) => [labels['chip'], labels['chip_name'] ?? '']),
  )
  const labelOf = new Map(
    facts.all('node_hwmon_sensor_label').map(sample => [toKey(sample), sample.labels['label'] ?? '']),
  )
  const criticalOf = new Map(
    facts.all('node_hwmon_temp_crit_celsius').map(sample => [toKey(sample), sample.value * 1000]),
  )
  const found = facts.all('node_hwmon_temp_celsius').flatMap(sample => {
    const key = toKey(sample)
    const name = `${toChipName(chips, sample.labels['chip'] ?? '')} ${labelOf.get(key) || sample.labels['sensor']}`
    return toTemperature(name, sample.value * 1000, criticalOf.get(key))
  })
  return found.length > 0 ? unique(found) : toZones(facts)
}

/** Adds the chip's device to a name that several chips share. */
function toChipName(chips: ReadonlyMap<string | undefined, string>, chip: string): string {
  const name = chips.get(chip)
  if (!name) return chip
  return [...chips.values()].filter(other => other === name).length > 1 ? `${name} ${chip}` : name
}

function toZones(facts: Facts): Temperature[] {
  const zones = facts.all('node_thermal_zone_temp').flatMap(({ labels, value }) => {
    return toTemperature(labels['type'] ?? `zone ${labels['zone'] ?? ''}`, value * 1000)
  })
  return unique(zones)
}

function toKey({ labels }: Sample): string {
  return `${labels['chip']} ${labels['sensor']}`
}
