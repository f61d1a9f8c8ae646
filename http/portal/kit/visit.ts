import type { Request, Response } from 'express'
import type { App } from '../../../schemas/app/app.ts'
import type { NoteContent } from '../../../schemas/member/note.ts'
import type { Role } from '../../../schemas/member/role.ts'
import type { Principal } from '../../../schemas/principal.ts'
import type { PortalVisit } from '../../access/member.ts'
import type { PageContext } from '../../pages/kit/exchange.ts'

/** One request to the portal, signed in or not. */
export interface Exchange extends PageContext {
  request: Request
  response: Response
  visit: PortalVisit
}

/** One request of somebody who is signed in. */
export interface MemberExchange extends Exchange {
  email: string
  /** The apps that they belong to. */
  apps: { appId: string; name: string }[]
  by: Principal
}

/** One request about one app, of somebody whose role in it was checked. */
export interface AppExchange extends MemberExchange {
  app: App
  role: Role
  /** What the forms before left to be said here. */
  notes: NoteContent[]
}
