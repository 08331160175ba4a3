import { describeOrdinaryRequests } from './setup/ordinary-requests.ts'

describeOrdinaryRequests('HTTP, as in Compose')
