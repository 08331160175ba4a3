// The suite starts this as the client; it passes its assignment to the hubs in the tests' process.
const [, , assignments = '', url = ''] = process.argv
const { MCP_CONFORMANCE_SCENARIO, MCP_CONFORMANCE_CONTEXT } = process.env
const context = JSON.parse(MCP_CONFORMANCE_CONTEXT ?? '{}')
const response = await fetch(assignments, {
  method: 'POST',
  body: JSON.stringify({
    scenario: MCP_CONFORMANCE_SCENARIO,
    url,
    toolCalls: context.toolCalls,
    clientId: context.client_id,
    clientSecret: context.client_secret,
    issuer: context.issuer,
  }),
})
process.stderr.write(`${await response.text()}\n`)
process.exitCode = response.ok ? 0 : 1
