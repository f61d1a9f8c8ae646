import { leaveNote, type NoteContent } from '../../../schemas/member/note.ts'
import { visitId } from '../../access/member.ts'
import type { AppExchange } from './visit.ts'

/**
 * Ends a form: the browser goes to a page that may be reloaded, and finds there what is to be said once (RFC 9110, 15.4.4).
 */
export async function goTo(
  { response, visit, runtime: { keyring, clock } }: AppExchange,
  path: string,
  note?: NoteContent,
): Promise<void> {
  const [bare = path] = path.split(/[?#]/)
  if (note) await leaveNote({ sessionId: visitId(visit), path: bare, keyring, now: clock.now(), ...note })
  response.redirect(303, path)
}
