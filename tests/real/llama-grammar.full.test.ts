import { testNpmGrammars } from './setup/llama-suite.ts'
import { largeServers } from './setup/npm-servers.ts'

testNpmGrammars(largeServers, 'npm-servers-large')
