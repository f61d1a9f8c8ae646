import { Apps } from './app/app.ts'
import { DailyCounts } from './app/daily-count.ts'
import { Attachments } from './archive/attachment.ts'
import { Conversations } from './archive/conversation.ts'
import { ConversationBodies } from './archive/conversation-body.ts'
import { ConversationParts } from './archive/conversation-part.ts'
import { Commands } from './command/command.ts'
import { Accounts } from './connection/account.ts'
import { BrowserProfiles } from './connection/browser-profile.ts'
import { Connections } from './connection/connection.ts'
import { Paces } from './connection/pace.ts'
import { PendingConnections } from './connection/reservation.ts'
import { Deliveries } from './delivery/delivery.ts'
import { DeliveryLanes } from './delivery/delivery-lane.ts'
import { Leases } from './lease/lease.ts'
import { Mails } from './mail/mail.ts'
import { MailLimits } from './member/mail-limit.ts'
import { Teams } from './member/membership.ts'
import { Notes } from './member/note.ts'
import { PortalSessions } from './member/session.ts'
import { SignIns } from './member/sign-in.ts'
import { ActorSnapshots, Lookings } from './operations/actor-snapshot.ts'
import { AuditEntries } from './operations/audit.ts'
import { OperatorKeys } from './operations/operator-key.ts'
import { ProcessRecords } from './operations/process-record.ts'
import { ServiceKeys } from './operations/service-key.ts'
import { Captures } from './user/capture.ts'
import { ConsumedLinks } from './user/consumed-link.ts'
import { Users } from './user/user.ts'
import { Wakeups } from './wakeups.ts'

/** Every collection of the service that has a model. */
export const MODELS = [
  Accounts,
  ActorSnapshots,
  Apps,
  Attachments,
  AuditEntries,
  BrowserProfiles,
  Captures,
  Commands,
  Connections,
  ConsumedLinks,
  ConversationBodies,
  ConversationParts,
  DailyCounts,
  Conversations,
  Deliveries,
  DeliveryLanes,
  Leases,
  MailLimits,
  Mails,
  Notes,
  Lookings,
  OperatorKeys,
  Paces,
  PortalSessions,
  SignIns,
  Teams,
  ProcessRecords,
  ServiceKeys,
  Users,
  Wakeups,
  PendingConnections,
] as const
