import type { RequestHandler } from 'express'
import { errorText } from '../../core/errors.ts'
import { type Command, Commands } from '../../schemas/command/command.ts'
import { type CommandFailure, errorOfFailure } from '../../schemas/command/failure.ts'
import { trusted } from '../../schemas/database.ts'
import { AuditEntries, type AuditEntry } from '../../schemas/operations/audit.ts'
import type { OpsAudit, OpsCommands } from '../../wire/ops.ts'
import { parseInput } from '../kit/input.ts'
import { newestOf } from './newest.ts'
import { isoOrNull, listingQuery } from './query.ts'

/** GET /ops/commands: the newest; arguments stay inside, since they may hold sealed secrets. */
export const listCommands: RequestHandler = async (request, response) => {
  const { limit, appId, state } = parseInput(listingQuery, request.query)
  const filter = state === undefined ? {} : { state }
  const commands = await newestOf(Commands, { appId, filter, limit })
  const answer: OpsCommands = { commands: commands.map(view) }
  response.json(answer)
}

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
})

/** GET /ops/audit: who did what, newest first: commands that people asked for, and what needs none. */
export const listAudit: RequestHandler = async (request, response) => {
  const { limit, appId } = parseInput(listingQuery, request.query)
  const [entries, commands] = await Promise.all([
    AuditEntries.find(appId === undefined ? {} : { appId })
      .sort({ at: -1 })
      .limit(limit)
      .lean<AuditEntry[]>(),
    newestOf(Commands, { appId, filter: { 'by.kind': trusted({ $ne: 'service' }) }, limit }),
  ])
  const all: OpsAudit['entries'] = [...entries.map(ofEntry), ...commands.map(ofCommand)]
  all.sort((a, b) => (a.at < b.at ? 1 : -1))
  const answer: OpsAudit = { entries: all.slice(0, limit) }
  response.json(answer)
}

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
