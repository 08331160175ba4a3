import { testNpmServers } from './setup/npm-suite.ts'
import { smallServers } from './setup/npm-servers.ts'

testNpmServers(smallServers, 'npm-servers')
