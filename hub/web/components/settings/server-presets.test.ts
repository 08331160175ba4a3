import { expect, test } from 'vitest'
import { serverEntry } from '../../../../schemas/config.ts'
import { serverName } from '../../../../schemas/names.ts'
import { PRESETS, toPasted } from './server-presets.ts'

test.each(PRESETS.map(preset => [preset.name, preset] as const))(
  '%s becomes an entry of the hub',
  (name, preset) => {
    const typed = Object.fromEntries(
      preset.settings.map(({ key, initial }) => [key, initial ?? `the ${key}/`]),
    )
    const pasted = JSON.parse(toPasted(preset, typed)).mcpServers[name]
    expect(serverName.safeParse(name).success).toBe(true)
    expect(serverEntry.safeParse(pasted).success).toBe(true)
    const text = JSON.stringify(pasted)
    expect(text).not.toMatch(/\{\w+\}/)
    for (const { key, initial = `the ${key}` } of preset.settings) expect(text).toContain(initial)
    expect(new URL(preset.docs).protocol).toBe('https:')
  },
)
