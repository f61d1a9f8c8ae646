import { errorText } from '../../core/errors.ts'
import { type Command, Commands } from '../../schemas/command/command.ts'
import { type CommandFailure, errorOfFailure } from '../../schemas/command/failure.ts'
import type { AuditEntry } from '../../schemas/operations/audit.ts'
import type { OpsAudit, OpsCommands } from '../../wire/ops.ts'
import { listAudit } from '../actions/list-audit.ts'
import { newestOf } from '../actions/newest.ts'
import { retryCommand } from '../actions/retry-command.ts'
import type { OpsPart } from './handler.ts'
import { isoOrNull } from './iso.ts'

export const commandHandlers: OpsPart<'listCommands' | 'retryCommand' | 'listAudit'> = (runtime) => ({
  listCommands: async ({ query: { limit, appId, state } }) => {
    const filter = state === undefined ? {} : { state }
    return { commands: (await newestOf(Commands, { appId, filter, limit })).map(view) }
  },
  retryCommand: async ({ params: { id }, by }) => ({ ok: true, ...(await retryCommand({ id, by, runtime })) }),
  listAudit: async ({ query }) => {
    const { entries, commands } = await listAudit(query)
    const all: OpsAudit['entries'] = [...entries.map(ofEntry), ...commands.map(ofCommand)]
    all.sort((a, b) => (a.at < b.at ? 1 : -1))
    return { entries: all.slice(0, query.limit) }
  },
})

/** Arguments stay inside, since they may hold sealed secrets. */
const view = (command: Command): OpsCommands['commands'][number] => ({
  id: command._id,
  kind: command.kind,
  appId: command.appId,
  target: command.target,
  by: command.by,
  state: command.state,
  result: command.result ? { ...command.result } : null,
  failure: command.failure ? viewFailure(command.failure) : null,
  crashes: command.crashes,
  createdAt: command.createdAt.toISOString(),
  dueAt: isoOrNull(command.claimableAt),
  doneAt: isoOrNull(command.doneAt),
})
const viewFailure = (failure: CommandFailure) => ({
  code: failure.code,
  message: errorText(errorOfFailure(failure)),
  reason: failure.code === 'internal' ? (failure.values?.['reason'] ?? null) : null,
})

const ofEntry = ({ _id, at, by, action, appId, target, details }: AuditEntry): OpsAudit['entries'][number] => ({
  id: _id,
  at: at.toISOString(),
  by,
  action,
  appId: appId ?? null,
  target: target ?? null,
  details,
})

const ofCommand = ({ _id, createdAt, by, kind, appId, target, state, result, failure }: Command) => ({
  id: _id,
  at: createdAt.toISOString(),
  by,
  action: kind,
  appId,
  target,
  details: { state, ...(result && { result }), ...(failure && { failure: viewFailure(failure).message }) },
})
