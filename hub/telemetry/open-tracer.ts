import {
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace'
import type { TraceContext } from '../../schemas/trace.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { EndedOperation, Tracer, TracesConfig } from '../core/telemetry.ts'
import { type ModelPlace, toContent, toEnd, toStart } from './attributes.ts'

/** Milliseconds that spans may take to leave with all tries, and that the end of the hub waits for the last ones. */
const EXPORT_MS = 3_000
const LAST_MS = 2_000

interface TracerOptions {
  clock: Clock
  log: Log
  version: string
  /** Returns the provider of a configured model. */
  placeOf: (model: string) => ModelPlace
}

const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER }

/** Opens a tracer that exports spans over OTLP. Disposing sends the last ones. */
export function openTracer(config: TracesConfig, options: TracerOptions): Tracer & AsyncDisposable {
  const { clock, log, version, placeOf } = options
  const { url, headers, serviceName, withContent } = config
  const report = createReport(log, url)
  const exporter = withReport(
    new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: EXPORT_MS }),
    report,
  )
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  })
  const tracer = provider.getTracer('superbloom', version)
  return {
    begin(kind, facts, parent) {
      const { name, kind: spanKind, attributes } = toStart({ ...facts, kind } as never, placeOf)
      const context = parent ? trace.setSpanContext(ROOT_CONTEXT, toSpanContext(parent)) : ROOT_CONTEXT
      const span = tracer.startSpan(name, { kind: KINDS[spanKind], attributes }, context)
      return {
        trace: toTraceContext(span),
        end(ended: EndedOperation) {
          const failure = toEnd(ended)
          span.setAttributes({ ...failure, ...(withContent ? toContent(ended) : {}) })
          if (failure['error.type'] !== undefined) span.setStatus({ code: SpanStatusCode.ERROR })
          span.end()
        },
      }
    },
    async [Symbol.asyncDispose]() {
      const late = Promise.withResolvers<void>()
      const cancel = clock.after(LAST_MS, () => late.reject(new Error('The hub ended before')))
      await Promise.race([provider.shutdown(), late.promise]).catch(report)
      cancel()
    },
  }
}

/** Returns an exporter that reports its failures. */
function withReport(exporter: SpanExporter, report: (error: unknown) => void): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, result => {
        report(result.error)
        done(result)
      }),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  }
}

/** Returns a function that logs the first of several failures in a row; undefined is a success. */
function createReport(log: Log, address: string): (error: unknown) => void {
  let isFailing = false
  // Of the address not what may be a password or a key.
  const { origin, pathname } = new URL(address)
  const url = origin + pathname
  return error => {
    if (error !== undefined && !isFailing) log.warn('traces_not_sent', { url, error })
    isFailing = error !== undefined
  }
}

function toSpanContext({ traceparent, tracestate }: TraceContext) {
  const [, traceId = '', spanId = '', flags = '0'] = traceparent.split('-')
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  }
}

function toTraceContext(span: Span): TraceContext {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext()
  const tracestate = traceState?.serialize()
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    ...(tracestate ? { tracestate } : {}),
  }
}
