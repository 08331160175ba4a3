import { html, typedIn } from '../../html.ts'

/** A setting that a person fills in; `where` says where its value is found. */
export interface FieldSetting {
  key: string
  label: string
  where?: string | undefined
  initial?: string | undefined
  isSecret?: boolean | undefined
  isOptional?: boolean | undefined
}

export type Typed = Readonly<Record<string, string>>

interface SettingFieldsProps {
  settings: readonly FieldSetting[]
  typed: Typed
  onType: (typed: Typed) => void
}

export function toInitial(settings: readonly FieldSetting[]): Typed {
  return Object.fromEntries(settings.map(({ key, initial = '' }) => [key, initial]))
}

/** One field for each setting of a program. */
export function SettingFields({ settings, typed, onType }: SettingFieldsProps) {
  return settings.map(
    ({
      key,
      label,
      where,
      isSecret,
      isOptional,
    }) => html`<label class="wide" key=${key}>${label}${isOptional && ' (may be empty)'}
      <input type=${isSecret ? 'password' : 'text'} required=${!isOptional} autocomplete="off" autocapitalize="none" spellcheck=${false} value=${typed[key] ?? ''} onInput=${(event: Event) => onType({ ...typed, [key]: typedIn(event) })} />
      ${where && html`<span class="field-about">${where}</span>`}</label>`,
  )
}

/** Returns an address with a scheme: people leave `http://` away. */
export function withScheme(typed: string) {
  const address = typed.trim()
  return address.includes('://') ? address : `http://${address}`
}
