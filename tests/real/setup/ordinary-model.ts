import { ORDINARY_REQUESTS, withRequests } from '../../lab/ordinary-requests.ts'
import { startStoryModel } from '../../lab/story-model.ts'

/* A model for containers, at the port that is given: it answers ordinary requests. */

const [port] = process.argv.slice(2)
const nothing = () => ({ text: `I only know ${ORDINARY_REQUESTS.length} requests.` })
await startStoryModel(withRequests(nothing), Number(port), '0.0.0.0')
process.stdout.write('It listens.\n')
