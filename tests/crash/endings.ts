import {
  accepted,
  answered,
  effect,
  holdModel,
  holdTools,
  once,
  onceOrInDoubt,
  pieceOfReply,
  replied,
} from './moments.ts'
import type { Point } from './points.ts'

/** Number of stops; as many crashes of the same cycle would not be forgiven. */
const OFTEN = 4

/** Moments at which the hub gets SIGTERM. */
export const ENDINGS: readonly Point[] = [
  { name: 'while nothing happens', says: 'please answer s0', when: answered },
  {
    name: "during the model's stream",
    says: 'please answer s1',
    times: OFTEN,
    prepare: holdModel,
    when: pieceOfReply,
    check: replied(OFTEN + 1),
  },
  {
    name: 'during a tool that changes something',
    says: 'please change s2',
    prepare: holdTools,
    when: effect,
    check: once('change s2'),
  },
  {
    name: 'during a tool that only reads',
    says: 'please look s3',
    times: OFTEN,
    prepare: holdTools,
    when: effect,
  },
  {
    name: 'as soon as a message is accepted',
    says: 'please change s4',
    when: accepted,
    check: onceOrInDoubt('change s4'),
  },
  {
    name: 'while a schedule is due',
    says: 'please wake s5',
    when: answered,
  },
]
