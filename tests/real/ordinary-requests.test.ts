import { describeOrdinaryRequests } from './setup/ordinary-requests.ts'

describeOrdinaryRequests('stdio')
