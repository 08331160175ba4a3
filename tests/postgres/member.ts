import type { Program } from '../support/program.ts'
import type { CuttingProxy } from './cutting-proxy.ts'
import type { Machine } from './machine.ts'

/** Milliseconds that one pattern is waited for: as long as the process runs. */
const ENDLESS_MS = 2 ** 30

/** Characters of the log of each hub that an error shows. */
const LAST_WORDS = 1_500

interface MemberOptions {
  readonly name: string
  readonly machine: Machine
  /** Its way to the database. */
  readonly link: CuttingProxy
  /** Returns the variables of its next process. */
  variables: () => Record<string, string>
  onLead: () => void
}

/** One hub of several: its machine, and the process there, which is started again whenever it ends. */
export class Member implements AsyncDisposable {
  readonly name: string
  readonly link: CuttingProxy
  readonly #options: MemberOptions
  #program: Promise<Program> | undefined
  /** True while a process that ends is not followed by another one. */
  isHeld = false

  constructor(options: MemberOptions) {
    this.#options = options
    this.name = options.name
    this.link = options.link
  }

  get hub() {
    return this.#options.machine.hub
  }

  async start(): Promise<void> {
    const { machine, variables, onLead } = this.#options
    this.isHeld = false
    this.#program = machine.start([], variables())
    const program = await this.#program
    // A process that ends without these words is followed by the next one.
    program.says(/Superbloom runs/, ENDLESS_MS).then(onLead, () => undefined)
    void program.ended.then(() => (this.isHeld ? undefined : this.start()))
  }

  /** Resolves once its process says that it waits or leads. */
  async up(within: number): Promise<void> {
    const program = await this.#program
    await program?.says(/Superbloom (?:runs|waits)/, within)
  }

  /** Returns the end of what its process wrote to stderr. */
  async lastWords(): Promise<string> {
    const program = await this.#program
    return `${this.name}:\n${program?.stderr.slice(-LAST_WORDS) ?? ''}`
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    const program = await this.#program
    program?.signal(signal, signal === 'SIGKILL' ? 'group' : 'alone')
  }

  /** Resolves with how its process ended, and what it had written to stderr. */
  async ended(): Promise<{ code: number | null; stderr: string }> {
    const program = await this.#program
    if (!program) throw new Error(`${this.name} was not started`)
    return { code: (await program.ended).code, stderr: program.stderr }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isHeld = true
    const program = await this.#program
    await program?.[Symbol.asyncDispose]()
  }
}
