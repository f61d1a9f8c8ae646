import { deliverUnderKills } from '../delivery/killing.ts'

/** 2,000 events under twenty kills, again and again: `soak:deliveries [rounds]`. Ends with 1 at the first event that was lost. */
const rounds = Number(process.argv[2] ?? 1)
for (let round = 1; round <= rounds; round++) {
  const report = await deliverUnderKills({ events: 2_000, kills: 20, batch: 20, timeScale: 600 })
  process.stdout.write(`${JSON.stringify({ round, ...report })}\n`)
}
