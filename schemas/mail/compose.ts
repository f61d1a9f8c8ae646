/** What a mail says, in both forms. */
export interface MailContent {
  subject: string
  text: string
  html: string
}

interface Letter {
  subject: string
  heading: string
  paragraphs: string[]
  /** One thing to do; its address stands on a line of its own in the text. */
  action?: { label: string; url: string }
  /** Small print: why the mail came. */
  reason: string
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
/** A name in a subject or heading must not break the line. */
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"
const SOFT = 'color:#566074;font-size:13px;line-height:1.5;margin:0 0 12px'
const BUTTON =
  'display:inline-block;padding:11px 20px;border-radius:8px;background:#1f2937;color:#ffffff;text-decoration:none;font-weight:600'

/** Writes a letter as text and as HTML. Nothing in it is fetched from anywhere: no picture, no style sheet. */
function write({ subject, heading, paragraphs, action, reason }: Letter): MailContent {
  const text = [heading, ...paragraphs, ...(action ? [`${action.label}:`, action.url] : []), reason].map((part) =>
    part === action?.url ? part : part.trim(),
  )
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(oneLine(subject))}</title></head>
<body style="margin:0;padding:24px;background:#f3f5f8;color:#10151f;${FONT}">
<div style="max-width:480px;margin:0 auto;padding:32px;background:#ffffff;border-radius:12px;overflow-wrap:anywhere;word-break:break-word">
<h1 style="margin:0 0 16px;font-size:20px;line-height:1.3">${escaped(heading)}</h1>
${paragraphs.map((each) => `<p style="margin:0 0 16px;line-height:1.5">${escaped(each)}</p>`).join('\n')}
${
  action
    ? `<p style="margin:24px 0"><a href="${escaped(action.url)}" style="${BUTTON}">${escaped(action.label)}</a></p>
<p style="${SOFT}">If the button does not work, open this address:<br><a href="${escaped(action.url)}" style="color:#566074;word-break:break-all">${escaped(action.url)}</a></p>`
    : ''
}
<p style="${SOFT};margin:0">${escaped(reason)}</p>
</div></body></html>
`
  return { subject: oneLine(subject), text: `${text.join('\n\n')}\n`, html }
}

/** The portal's own name, where no app is meant. */
const PORTAL = 'the developer portal'

/** The mail of a sign-in link, to an address that asked for one. */
export const signInMail = ({ url, host }: { url: string; host: string }): MailContent =>
  write({
    subject: `Sign in to ${PORTAL}`,
    heading: `Sign in to ${PORTAL}`,
    paragraphs: [`Somebody, hopefully you, asked to sign in at ${host}. The link works once, within an hour.`],
    action: { label: 'Sign in', url },
    reason: 'If it was not you, ignore this mail: nobody gets in without the link.',
  })

/** The mail of an invitation to an app's team. */
export const invitationMail = ({
  url,
  appName,
  role,
  invitedBy,
}: {
  url: string
  appName: string
  role: string
  invitedBy: string | undefined
}): MailContent => {
  const name = oneLine(appName)
  return write({
    subject: `Join ${name} on ${PORTAL}`,
    heading: `You are invited to ${name}`,
    paragraphs: [
      `${invitedBy ?? 'The operator of the service'} invited you to the developer portal of ${name} as ${role === 'owner' ? 'an owner' : 'a developer'}. The link works once, within seven days.`,
    ],
    action: { label: 'Sign in', url },
    reason: 'If you did not expect this, ignore the mail: nothing happens without the link.',
  })
}

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

/** The announcement of a deprecation to an app's contact (docs/behaviour.md, Versioning 6). */
export const deprecationMail = ({
  appName,
  subject,
  message,
  removedAt,
}: {
  appName: string
  subject: string
  message: string
  removedAt: Date
}): MailContent =>
  write({
    subject: `Deprecation: ${subject}`,
    heading: oneLine(subject),
    paragraphs: [
      `This concerns ${oneLine(appName)}.`,
      ...message.split(/\n{2,}/),
      `It keeps working until ${day.format(removedAt)} at least.`,
    ],
    reason: `You get this mail because yours is the contact address of ${oneLine(appName)}.`,
  })
