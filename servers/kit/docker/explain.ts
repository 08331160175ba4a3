import type { Explain } from '../upstream/explain.ts'

/** The settings of an engine's address, for messages. */
export const SETTING = 'DOCKER_HOST or the ENGINE_…_URL'

/** The words about refusals of an engine, and about its socket. */
export const explain: Explain = {
  status(title, status) {
    switch (status) {
      case 403: {
        const fix =
          'Where a proxy guards the socket, let it allow this: CONTAINERS=1 and EVENTS=1 to look, POST=1 to change.'
        return { kind: 'forbidden', what: `${title} does not allow this.`, fix }
      }
      case 404: {
        const fix = 'Look for its name in the list of containers.'
        return { kind: 'not_found', what: `${title} has no such container.`, fix }
      }
      case 409: {
        const fix = 'Look at its state: it may be on its way out, paused or ended.'
        return { kind: 'refused', what: `${title} cannot do this to the container as it is now.`, fix }
      }
      case 500: {
        const fix = `What it says tells why: often the container's own settings (its command, a port, a volume). The log of ${title} says more.`
        return { kind: 'server_error', what: `${title} failed to do this.`, fix, transient: true }
      }
      default:
        return undefined
    }
  },
  network({ title, address }, code) {
    if (!address.startsWith('/')) return undefined
    switch (code) {
      case 'ENOENT':
        return {
          why: 'there is no such socket',
          fix: `Is ${title} running? In a container, mount the socket into it (-v ${address}:${address}); if it is elsewhere, set ${SETTING}.`,
        }
      case 'EACCES':
      case 'EPERM':
        return {
          why: 'this user may not use the socket',
          fix: `Add the user that runs this to the socket's group (usually: usermod -aG docker USER, then log in anew; in a container: --group-add with the number of that group).`,
        }
      case 'ECONNREFUSED':
      case 'ENOTSOCK':
        return {
          why: 'nothing listens at the socket',
          fix: `Start ${title}: its socket is there, but it does not run.`,
        }
      default:
        return {
          why: `the connection broke (${code === '' ? 'it ended too early' : code})`,
          fix: `Try once more; if it stays so, look at the log of ${title}.`,
        }
    }
  },
}
