import { agendaClaims } from './claims/agenda.ts'
import { ourClaims } from './claims/ours.ts'
import { printRow, rounded } from './row.ts'

/** What looks and claims cost beside a million waiting deliveries, against ten thousand, and against the `agenda` package beside as many jobs. */
const FEW = 10_000
const MANY = 1_000_000

const few = await ourClaims({ waiting: FEW })
const many = await ourClaims({ waiting: MANY })
for (const [what, of] of [
  ['a look for due deliveries', 'idleLookMs'],
  ['a claim of ten deliveries', 'claimMs'],
  ['a claim of ten at a dead endpoint', 'deadClaimMs'],
] as const)
  printRow({
    what: `${what}, ${MANY} waiting against ${FEW}`,
    ours: `${rounded(many[of])} ms`,
    floor: `${rounded(few[of])} ms`,
    ratio: many[of] / few[of],
    goal: { atMost: 3 },
  })
const agendaMs = await agendaClaims({ waiting: MANY })
printRow({
  what: `a claim of ten deliveries beside ${MANY}, against agenda`,
  ours: `${rounded(many.claimMs)} ms`,
  floor: `${rounded(agendaMs)} ms`,
  ratio: many.claimMs / agendaMs,
  goal: { atMost: 1 },
})
process.exit()
