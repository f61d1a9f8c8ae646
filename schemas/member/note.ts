import mongoose, { type Model } from 'mongoose'
import { MINUTE } from '../../core/clock.ts'
import { type Keyring, seal, unseal, type WrappedKey } from '../../core/envelope.ts'
import { newId } from '../../core/ids.ts'
import { takeOne, trusted } from '../database.ts'
import { wrappedKey } from '../wrapped-key.ts'

/** What the page after a form says, once: that it was done, or a secret that is shown this one time. */
export interface NoteContent {
  kind: 'status' | 'alert'
  text: string
  secret?: { name: 'apiKey' | 'appSecret' | 'webhookSecret'; value: string }
}

/** A note that waits for the page that shows it; sealed, since it may hold a secret. */
interface Note {
  _id: string
  /** Digest of the visit's cookie. */
  sessionId: string
  path: string
  key: WrappedKey
  sealed: Buffer
  expiresAt: Date
}

/** The page is shown at once; whoever never comes leaves nothing behind. */
const KEPT_MS = 5 * MINUTE
/** Shown on one page; whoever sends a form more often than that meanwhile sees the rest with the next. */
const MOST_NOTES = 10
const PURPOSE = 'portal-note'

const schema = new mongoose.Schema<Note>(
  {
    _id: { type: String, required: true },
    sessionId: { type: String, required: true },
    path: { type: String, required: true },
    key: { type: wrappedKey, required: true },
    sealed: { type: Buffer, required: true },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'portal_notes', versionKey: false },
)
schema.index({ sessionId: 1 })
schema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })

export const Notes: Model<Note> = mongoose.model<Note>('Note', schema)

interface Place {
  sessionId: string
  path: string
  keyring: Keyring
  now: Date
}

/** Leaves a note for the next time that this visit sees this page. */
export async function leaveNote({ sessionId, path, keyring, now, ...content }: Place & NoteContent): Promise<void> {
  const _id = newId()
  const { key, wrapped } = keyring.newDataKey()
  const sealed = seal(key, { owner: _id, purpose: PURPOSE }, JSON.stringify(content))
  await Notes.create({ _id, sessionId, path, key: wrapped, sealed, expiresAt: new Date(now.getTime() + KEPT_MS) })
}

/**
 * Takes the notes of this page, oldest first; more than one where a form was sent twice before the page came. Their deletion is the showing, so that a
 * reload does not bring them back.
 */
export async function takeNotes({ sessionId, path, keyring, now }: Place): Promise<NoteContent[]> {
  const taken: Note[] = []
  while (taken.length < MOST_NOTES) {
    const note = await takeOne(Notes, { sessionId, path, expiresAt: trusted({ $gt: now }) })
    if (!note) break
    taken.push(note)
  }
  return taken
    .sort((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime())
    .map(({ _id, key, sealed }) => {
      const opened = unseal(keyring.unwrap(key), { owner: _id, purpose: PURPOSE }, sealed)
      return JSON.parse(opened.toString('utf8')) as NoteContent
    })
}
