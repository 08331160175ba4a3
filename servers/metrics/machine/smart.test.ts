import { expect, test } from 'vitest'
import { parseSmart } from './smart.ts'

/** The form of `smartctl --all --json` of smartmontools 7, cut to what matters. */
const SATA = {
  smartctl: { version: [7, 3], argv: ['smartctl', '--all', '--json', '/dev/sda'], exit_status: 0 },
  device: { name: '/dev/sda', type: 'sat', protocol: 'ATA' },
  model_name: 'WDC WD40EFRX-68N32N0',
  serial_number: 'WD-WCC7K0000000',
  smart_status: { passed: true },
  ata_smart_attributes: {
    table: [
      { id: 5, name: 'Reallocated_Sector_Ct', value: 200, when_failed: '', raw: { value: 0, string: '0' } },
      { id: 9, name: 'Power_On_Hours', value: 60, when_failed: '', raw: { value: 29_300, string: '29300' } },
      {
        id: 197,
        name: 'Current_Pending_Sector',
        value: 200,
        when_failed: '',
        raw: { value: 0, string: '0' },
      },
    ],
  },
  power_on_time: { hours: 29_300 },
  temperature: { current: 34 },
}

const NVME = {
  model_name: 'Samsung SSD 980 1TB',
  smart_status: { passed: true, nvme: { value: 0 } },
  nvme_smart_health_information_log: {
    critical_warning: 0,
    temperature: 41,
    available_spare: 100,
    available_spare_threshold: 10,
    percentage_used: 3,
    media_errors: 0,
  },
  temperature: { current: 41 },
  power_on_time: { hours: 5200 },
}

test('a healthy SATA drive', () => {
  expect(parseSmart(JSON.stringify(SATA))).toEqual({
    model: 'WDC WD40EFRX-68N32N0',
    serial: 'WD-WCC7K0000000',
    health: 'ok',
    warnings: [],
    celsius: 34,
    powerOnHours: 29_300,
  })
})

test('a healthy NVMe drive', () => {
  expect(parseSmart(JSON.stringify(NVME))).toEqual({
    model: 'Samsung SSD 980 1TB',
    health: 'ok',
    warnings: [],
    celsius: 41,
    powerOnHours: 5200,
    wearPercent: 3,
  })
})

test('bad sectors are a warning although the drive calls itself healthy', () => {
  const table = SATA.ata_smart_attributes.table.map(row => ({ ...row, raw: { value: row.id === 5 ? 8 : 2 } }))
  const report = parseSmart(JSON.stringify({ ...SATA, ata_smart_attributes: { table } }))
  expect(report.health).toBe('warning')
  expect(report.warnings).toEqual(['8 reallocated sectors', '2 sectors waiting to be reallocated'])
})

test('an attribute below its threshold is a warning', () => {
  const table = [{ id: 7, name: 'Seek_Error_Rate', when_failed: 'now', raw: { value: 0 } }]
  const report = parseSmart(JSON.stringify({ ...SATA, ata_smart_attributes: { table } }))
  expect(report.warnings).toEqual(['Seek_Error_Rate is below its threshold'])
})

test('a worn, failing NVMe drive', () => {
  const log = { critical_warning: 1, percentage_used: 103, media_errors: 4, available_spare: 9 }
  const worn = { ...NVME.nvme_smart_health_information_log, ...log }
  const text = JSON.stringify({
    ...NVME,
    smart_status: { passed: false },
    nvme_smart_health_information_log: worn,
  })
  expect(parseSmart(text)).toMatchObject({
    health: 'failing',
    wearPercent: 103,
    warnings: ['critical warning 1', '4 media errors', '103 % of its rated life used', 'only 9 % spare left'],
  })
})

test.each([
  [
    JSON.stringify({ smartctl: { messages: [{ string: 'Permission denied', severity: 'error' }] } }),
    'Permission denied',
  ],
  [JSON.stringify({ smartctl: {} }), 'the drive gives no SMART verdict; it may be asleep, and was not woken'],
  ['', 'smartctl gave an answer that is not understood here'],
  ['{"smart_status": 5}', 'smartctl gave an answer that is not understood here'],
])('without a verdict it says why: %s', (text, unknown) => {
  expect(parseSmart(text)).toEqual({ warnings: [], unknown })
})
