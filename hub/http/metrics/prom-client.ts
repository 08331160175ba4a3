import { createRequire } from 'node:module'
import type * as promClient from 'prom-client'

/*
 * The parts of prom-client that are used. Its entry also loads OpenTelemetry's API and what runs between
 * scrapes, for ten times as long.
 */
const load = createRequire(import.meta.url)

export const Registry = load('prom-client/lib/registry.js') as typeof promClient.Registry
export const Counter = load('prom-client/lib/counter.js') as typeof promClient.Counter
export const Gauge = load('prom-client/lib/gauge.js') as typeof promClient.Gauge
export const Histogram = load('prom-client/lib/histogram.js') as typeof promClient.Histogram
