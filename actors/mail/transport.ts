import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import { SECOND } from '../../core/clock.ts'
import type { Config } from '../../core/config.ts'
import type { MailContent } from '../../schemas/mail/compose.ts'

/** Each wait on a mail server (machine time); the claim of the mail is renewed meanwhile. */
const CONNECT_MS = 10 * SECOND
const SILENCE_MS = 20 * SECOND

interface Letter extends MailContent {
  /** Names the mail at every attempt alike, so that a receiver can tell a second copy. */
  id: string
  to: string
}

export interface Mailer {
  /** Resolves when the mail server has taken the mail over; rejects with its reason. */
  send(letter: Letter): Promise<void>
  close(): void
}

type MailConfig = Pick<Config, 'SMTP_URL' | 'MAIL_FROM' | 'BASE_URL' | 'DATA_DIR'>

/** Mails go to the server at `SMTP_URL`, or become files in `DATA_DIR/mails` where the sandbox has none (docs/behaviour.md, Environment). */
export const createMailer = (config: MailConfig): Mailer =>
  config.SMTP_URL === undefined ? fileMailer(config) : smtpMailer(config, config.SMTP_URL)

/** What a mail is made of, whichever way it goes. */
function message(
  { id, to, subject, text, html }: Letter,
  { MAIL_FROM, BASE_URL }: MailConfig,
  encoding: '7bit' | '8bit',
) {
  const { hostname } = new URL(BASE_URL)
  return {
    from: MAIL_FROM,
    to,
    subject,
    // As it is where it can be: in quoted-printable a long link would be cut in pieces.
    text: encoding === '8bit' || isAscii(text) ? { raw: `${plain(encoding)}\r\n\r\n${text}` } : text,
    html,
    messageId: `<${id}@${hostname.replace(/[^\w.-]/g, '')}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

const plain = (encoding: string): string =>
  `Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}`
const isAscii = (text: string): boolean => /^[\n\x20-\x7e]*$/.test(text)

function smtpMailer(config: MailConfig, url: string): Mailer {
  const transport = createTransport({
    url,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
  })
  return {
    send: async (letter) => {
      // Not every mail server takes more than seven bits.
      await transport.sendMail(message(letter, config, '7bit'))
    },
    close: () => transport.close(),
  }
}

function fileMailer(config: MailConfig): Mailer {
  const folder = join(config.DATA_DIR, 'mails')
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  return {
    send: async (letter) => {
      const { message: bytes } = await transport.sendMail(message(letter, config, '8bit'))
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const file = join(folder, `${letter.id}.eml`)
      // Renamed when it is whole: whoever watches the folder never reads half a mail.
      await writeFile(`${file}.unfinished`, bytes as Buffer, { mode: 0o600 })
      await rename(`${file}.unfinished`, file)
    },
    close: () => transport.close(),
  }
}
