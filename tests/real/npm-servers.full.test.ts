import { testNpmServers } from './setup/npm-suite.ts'
import { largeServers } from './setup/npm-servers.ts'

testNpmServers(largeServers, 'npm-servers-large')
