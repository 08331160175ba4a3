import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { installPackages } from '../real/setup/npm-packages.ts'
import { startProgram } from '../support/program.ts'

/** The tag `latest` does not know the revision of 2026. */
const VERSION = '0.2.0-alpha.12'
const NAME = '@modelcontextprotocol/conformance'

export const REVISIONS = ['2025-11-25', '2026-07-28'] as const
export type Revision = (typeof REVISIONS)[number]

export interface Check {
  scenario: string
  id: string
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO' | 'SKIPPED'
  errorMessage?: string
}

/** The results of a run of the suite. */
export interface Findings {
  /** Number of scenarios that count for the revision. */
  scored: number
  /** The checks of the scored scenarios. */
  checks: Check[]
  /** Scenarios that run without counting, and why they do not count. */
  unscored: { scenario: string; reason: string; failed: number }[]
  /** Zero if every scored check passed, apart from expected failures that did fail. */
  code: number | null
  /** The suite's printed output. */
  output: string
}

export type Subject = { kind: 'server'; url: string } | { kind: 'client'; command: string }

/** Installs the suite if it is missing; returns its folder. */
export function installSuite(): string {
  return join(installPackages({ [NAME]: VERSION }), 'node_modules', NAME)
}

/**
 * Runs everything that a revision of the protocol requires; expected failures are in a YAML file in the
 * suite's format.
 */
export async function runSuite(subject: Subject, revision: Revision, expected: string): Promise<Findings> {
  const suite = installSuite()
  const folder = mkdtempSync(join(tmpdir(), 'superbloom-conformance-'))
  try {
    await using program = await startProgram(process.execPath, [
      join(suite, 'dist', 'index.js'),
      subject.kind,
      ...(subject.kind === 'server'
        ? ['--url', subject.url]
        : ['--command', subject.command, '--timeout', '60000']),
      ...['--requirements', revision, '--output-dir', folder],
      ...['--expected-failures', expected],
    ])
    const { code } = await program.ended
    const output = `${program.stdout}${program.stderr}`
    return { ...read(folder, suite, subject.kind, revision), code, output }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Runs the suite's scenarios for authorization servers. `answer` opens the address at which a person says yes; the
 * client's redirect URL is http://127.0.0.1:<port>/callback.
 */
export async function runIssuerSuite(
  subject: { url: string; resource: string; client: string; port: number },
  answer: (url: string) => Promise<unknown>,
): Promise<{ code: number | null; output: string }> {
  const { url, resource, client, port } = subject
  await using program = await startProgram(process.execPath, [
    join(installSuite(), 'dist', 'index.js'),
    ...['authorization', '--url', url, '--resource', resource, '--client-id', client, '--port', `${port}`],
  ])
  await program.says(/Callback server started/)
  const [asked] = await program.says(/http\S+\/oauth\/authorize\S+/)
  await answer(asked)
  const { code } = await program.ended
  return { code, output: `${program.stdout}${program.stderr}` }
}

interface Requirements {
  server: string[]
  client: string[]
  not_scored: { scenario: string; leg: Subject['kind']; reason: string }[]
}

function read(folder: string, suite: string, kind: Subject['kind'], revision: Revision) {
  const text = readFileSync(join(suite, 'requirements', `${revision}.yaml`), 'utf8')
  const requirements = parse(text) as Requirements
  const checks = readChecks(folder)
  const scored = requirements[kind]
  return {
    scored: scored.length,
    checks: checks.filter(check => scored.includes(check.scenario)),
    unscored: requirements.not_scored
      .filter(one => one.leg === kind)
      .map(({ scenario, reason }) => ({
        scenario,
        reason,
        failed: checks.filter(check => check.scenario === scenario && isFailed(check)).length,
      })),
  }
}

/** Reads the checks from the folders, one for each scenario, named after it and the time. */
function readChecks(folder: string): Check[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('checks.json'))
    .flatMap(path => {
      const scenario = path.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[^/]*\/checks\.json$/, '')
      const checks = JSON.parse(readFileSync(join(folder, path), 'utf8')) as Omit<Check, 'scenario'>[]
      return checks.map(check => ({ ...check, scenario }))
    })
}

/** Counts warnings as failures, as the suite does when it has a file of expected failures. */
function isFailed({ status }: Check): boolean {
  return status === 'FAILURE' || status === 'WARNING'
}

/** Summarises a run in one line. */
export function summarize(name: string, { scored, checks, unscored }: Findings): string {
  const passed = checks.filter(check => check.status === 'SUCCESS').length
  const failed = checks.filter(isFailed)
  const whole = scored - new Set(failed.map(check => check.scenario)).size
  const others = unscored.filter(one => one.failed === 0).length
  return `${name}: ${whole} of ${scored} scenarios, ${passed} checks passed, ${failed.length} failed; not scored: ${others} of ${unscored.length} pass`
}

/** Returns the suite's verdict on a failed run, and each failed check. */
export function explain({ output, checks }: Findings): string {
  const verdict = output.slice(Math.max(0, output.search(/Stale baseline|Unexpected failures/)))
  const failed = checks.filter(isFailed).map(one => `${one.scenario}:${one.id}: ${one.errorMessage ?? ''}`)
  return [verdict, ...failed].join('\n')
}
