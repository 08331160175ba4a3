import { type LabAnswer, type LabRequest, type LabServer, startLab } from '../../hub/demo/http.ts'
import type { Contract } from '../support/openapi.ts'

export interface RouteRequest extends LabRequest {
  /** Values of the path's parameters, in order. */
  slots: readonly string[]
  /** The parsed body; undefined without one. */
  json: unknown
}

/** Answers by route, such as "GET /api/v3/movie/:id". */
export type Routes = Readonly<Record<string, (request: RouteRequest) => LabAnswer>>

export interface CheckedOptions {
  /** Validates every request and every successful answer; without it no spec is read. */
  contract?: Contract | undefined
  port?: number | undefined
}

interface CheckedRules extends CheckedOptions {
  /** Returns the answer to a request without the right key; undefined accepts the request. */
  refuse(request: LabRequest): LabAnswer | undefined
  routes: Routes
  /** Statuses of the real program that its description leaves out. */
  undescribed?: readonly number[]
  /** Returns the body in its described form, because some programs accept more than their description. */
  toDescribed?(path: string, json: unknown): unknown
}

/** The records of every lab upstream. */
export interface CheckedLab extends LabServer {
  /** Requests in order, with routes such as "POST /api/v3/movie". */
  readonly requests: readonly { route: string; json: unknown; search: string }[]
}

/** Starts a lab upstream. Disposing of it throws the violations of the contract. */
export async function startChecked(rules: CheckedRules): Promise<CheckedLab> {
  const problems: string[] = []
  const requests: { route: string; json: unknown; search: string }[] = []
  const routes = Object.entries(rules.routes).map(([name, answer]) => ({ ...toPattern(name), answer }))
  const lab = await startLab(request => {
    const refused = rules.refuse(request)
    if (refused) return refused
    const { method, url, body } = request
    const json = body === '' ? undefined : (JSON.parse(body) as unknown)
    requests.push({ route: `${method} ${url.pathname}`, json, search: url.search })
    const route = routes.find(one => one.method === method && one.pattern.test(url.pathname))
    if (!route) {
      if (rules.contract) problems.push(`${method} ${url.pathname}: the lab has no such route`)
      return { status: 404, body: { message: 'NotFound' } }
    }
    const slots = (route.pattern.exec(url.pathname) ?? []).slice(1).map(decodeURIComponent)
    const answer = route.answer({ ...request, slots, json })
    problems.push(...check(rules, `${url.pathname}${url.search}`, method, json, answer))
    return answer
  }, rules.port)
  return {
    ...lab,
    requests,
    async [Symbol.asyncDispose]() {
      await lab[Symbol.asyncDispose]()
      if (problems.length > 0) throw new Error(`The contract was broken:\n${problems.join('\n')}`)
    },
  }
}

function check(
  { contract, undescribed = [], toDescribed = (_path, json) => json }: CheckedRules,
  path: string,
  method: string,
  json: unknown,
  { status = 200, body }: LabAnswer,
): string[] {
  if (!contract) return []
  const request = contract.request(method, path, toDescribed(path, json))
  if (status >= 400 || undescribed.includes(status))
    return request.map(problem => `${method} ${path}, request: ${problem}`)
  // Radarr and Sonarr answer 201 although their descriptions say 200.
  const described = contract.answer(method, path, status, body)
  const answer =
    status === 201 && described.some(line => line.endsWith('answers no 201'))
      ? contract.answer(method, path, 200, body)
      : described
  return [
    ...request.map(problem => `${method} ${path}, request: ${problem}`),
    ...answer.map(problem => `${method} ${path}, answer: ${problem}`),
  ]
}

function toPattern(route: string): { method: string; pattern: RegExp } {
  const [method = '', path = ''] = route.split(' ')
  return { method, pattern: new RegExp(`^${path.replace(/:\w+/g, '([^/]+)')}$`, 'i') }
}
