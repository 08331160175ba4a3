import { largeServers } from './setup/npm-servers.ts'
import { testNpmServers } from './setup/npm-suite.ts'

testNpmServers(largeServers, 'npm-servers-large')
