import { clients } from './clients/clients.ts'
import { describeClients } from './clients/suite.ts'

describeClients(clients.filter(({ isHeavy }) => isHeavy))
