import { createHmac } from 'node:crypto'
import type { App } from '../../schemas/app/app.ts'
import { appKey } from '../../schemas/app/apps.ts'
import { type Account, Accounts } from '../../schemas/connection/account.ts'
import { unlessDuplicate } from '../../schemas/database.ts'
import type { ActorRuntime } from '../runtime.ts'
import { type Holding, waitForClaim } from './wait-for-claim.ts'

const ACCOUNT_ID_LENGTH = 32

/** Stable for one provider account within one app, and meaningless outside it (docs/behaviour.md, Connection). */
export function accountIdOf({
  app,
  provider,
  providerAccountId,
  runtime,
}: {
  app: App
  provider: string
  providerAccountId: string
  runtime: Pick<ActorRuntime, 'keyring'>
}): string {
  const key = appKey(app, { keyring: runtime.keyring, purpose: 'account-id' })
  return createHmac('sha256', key).update(`${provider}|${providerAccountId}`).digest('hex').slice(0, ACCOUNT_ID_LENGTH)
}

/** Takes the account's claim, which puts connects, folds and purges of one account in order; makes the account where it is new. */
export async function holdAccount({
  id,
  appId,
  provider,
  runtime,
  signal,
}: {
  id: string
  appId: string
  provider: string
  runtime: ActorRuntime
  signal: AbortSignal
}): Promise<Holding<Account>> {
  await Accounts.updateOne(
    { _id: id },
    { $setOnInsert: { appId, provider, backfill: { done: false }, fence: 0 } },
    { upsert: true },
  ).catch(unlessDuplicate)
  const holding = await waitForClaim({ model: Accounts, id, runtime, signal })
  if (!holding) throw new Error('the account is gone')
  return holding
}
