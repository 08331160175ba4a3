import { HubError } from '../core/errors.ts'
import type { TracesConfig } from '../core/telemetry.ts'
import type { Environment } from './environment.ts'

/**
 * Reads where traces go from OpenTelemetry's own variables; undefined if they name nothing. Throws `bad_request` for
 * an address that is none.
 */
export function readTraces(environment: Environment): TracesConfig | undefined {
  const own = environment('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT')
  const base = environment('OTEL_EXPORTER_OTLP_ENDPOINT')
  const url = own ?? (base && `${base.replace(/\/$/, '')}/v1/traces`)
  if (url === undefined || environment('OTEL_SDK_DISABLED') === 'true') return undefined
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new HubError('bad_request', `OTEL_EXPORTER_OTLP_ENDPOINT: ${own ?? base} is not an http:// address`)
  const content = environment('OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT') ?? ''
  return {
    url,
    headers: toHeaders(environment('OTEL_EXPORTER_OTLP_HEADERS') ?? ''),
    serviceName: environment('OTEL_SERVICE_NAME') ?? 'superbloom',
    withContent: /^(?:true|span_only|span_and_event)$/i.test(content),
  }
}

/** Reads `name=value,name=value`; values are percent-encoded. */
function toHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').flatMap(pair => {
    const [, name, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []
    return name === undefined || value === undefined ? [] : [[name, decodeURIComponent(value)]]
  })
  return Object.fromEntries(pairs)
}
