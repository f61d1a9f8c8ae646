import mongoose, { type Model } from 'mongoose'
import { DAY } from '../../core/clock.ts'
import { embedded } from '../embedded.ts'
import { ROLES, type Role } from './role.ts'

/** A person who may use the portal of one app. */
export interface Member {
  id: string
  /** Lower case. */
  email: string
  role: Role
  joinedAt: Date
}

/** Somebody who was asked to join and has not come yet. */
export interface Invitation {
  id: string
  /** Lower case. */
  email: string
  role: Role
  /** Who invited: an e-mail, or what else asked. */
  invitedBy: string
  invitedAt: Date
  expiresAt: Date
}

/**
 * The team of one app in one document, so that one atomic write decides whatever concerns several members: an app always keeps an
 * owner (docs/behaviour.md, Developer portal), also when two owners demote each other at the same moment.
 */
export interface Memberships {
  /** appId */
  _id: string
  members: Member[]
  invitations: Invitation[]
}

/** An invitation's link works for so long; then it is sent again. */
export const INVITATION_MS = 7 * DAY
/** Members and invitations of one app: far more than any team has, few enough for one document. */
export const TEAM_LIMIT = 200

const role = { type: String, enum: ROLES }

const schema = new mongoose.Schema<Memberships>(
  {
    _id: { type: String, required: true },
    members: { type: [embedded({ id: String, email: String, role, joinedAt: Date })], default: [] },
    invitations: {
      type: [embedded({ id: String, email: String, role, invitedBy: String, invitedAt: Date, expiresAt: Date })],
      default: [],
    },
  },
  { collection: 'memberships', versionKey: false },
)
schema.index({ 'members.email': 1 })
schema.index({ 'invitations.email': 1 })

export const Teams: Model<Memberships> = mongoose.model<Memberships>('Memberships', schema)
