import { afterAll, beforeAll } from 'vitest'
import { installSuite } from '../conformance/suite.ts'
import { untilNoChildren } from '../support/processes.ts'
import { checkClient } from './setup/conformance.ts'

beforeAll(() => installSuite(), 120_000)
afterAll(() => untilNoChildren())

checkClient('2025-11-25')
