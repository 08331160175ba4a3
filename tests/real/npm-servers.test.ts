import { smallServers } from './setup/npm-servers.ts'
import { testNpmServers } from './setup/npm-suite.ts'

testNpmServers(smallServers, 'npm-servers')
