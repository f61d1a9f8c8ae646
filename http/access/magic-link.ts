import type { Request, RequestHandler } from 'express'
import jwt from 'jsonwebtoken'
import { Passport } from 'passport'
import { Strategy as MagicLinkStrategy } from 'passport-magic-link'
import { SECOND } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { signInMail } from '../../schemas/mail/compose.ts'
import { writeMail } from '../../schemas/mail/mail.ts'
import { MAILS_PER_ADDRESS, MAILS_PER_NETWORK_ADDRESS, takePlace } from '../../schemas/member/mail-limit.ts'
import { consumeSignIn, keepSignIn, SIGN_IN_MS, signInSecrets, signInUrl } from '../../schemas/member/sign-in.ts'
import { acceptInvitation, openInvitations } from '../../schemas/member/team.ts'
import { audited } from '../../schemas/operations/audit.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import { networkAddress, networkOf } from './network-address.ts'

/** Signing in by a link in a mail (docs/security.md, Secrets and tokens). */
export interface MagicLink {
  /**
   * Sends a link to an address, if it is one of a member. What happens here is the same for every address, written down and limited
   * alike: whether somebody holds it is only looked up by the actor that sends the mail.
   */
  request(request: Request, email: string): Promise<void>
  /** Consumes a link; its e-mail, or null for one that is unknown, used or expired. */
  accept(request: Request, token: string): Promise<string | null>
}

/**
 * passport-magic-link with what its documentation leaves to us: single use is one atomic delete (`allowReuse` turns its own, which is in
 * memory, off), the person is looked up after the token, and nothing that a callback throws may end the process.
 */
export function createMagicLink(runtime: HttpRuntime): MagicLink {
  const passport = new Passport()
  const secrets = signInSecrets(runtime)
  for (const [index, secret] of secrets.entries()) passport.use(nameOf(index), strategyOf({ secret, runtime }))
  return {
    request: async (request, email) => {
      await run(request, { email, nonce: newId() }, (done) =>
        passport.authenticate(nameOf(0), { action: 'requestToken', session: false }, done),
      )
    },
    accept: async (request, token) => {
      const signer = secrets.findIndex((secret) => isSignedWith(token, secret))
      if (signer === -1) return null
      const user = await run(request, { token }, (done) =>
        passport.authenticate(nameOf(signer), { action: 'acceptToken', allowReuse: true, session: false }, done),
      )
      return user ? user.email : null
    },
  }
}

/** One strategy for each master key: a rotation ends no link that is under way. */
const nameOf = (index: number): string => `magiclink-${index}`

function isSignedWith(token: string, secret: string): boolean {
  try {
    jwt.verify(token, secret, { algorithms: ['HS256'] })
    return true
  } catch {
    return false
  }
}

const strategyOf = ({ secret, runtime }: { secret: string; runtime: HttpRuntime }): MagicLinkStrategy =>
  new MagicLinkStrategy(
    {
      secret,
      // The nonce makes two links of one second two links.
      userFields: ['email', 'nonce'],
      tokenField: 'token',
      ttl: SIGN_IN_MS / SECOND,
      passReqToCallbacks: true,
      verifyUserAfterToken: true,
    },
    (request, { email }, token) => sendLink({ request, email: String(email), token, runtime }),
    async (request, { email }) => {
      const signIn = await consumeSignIn({ token: String(request.body.token), now: runtime.clock.now() })
      return signIn && signIn.email === email ? { email } : null
    },
  )

type Done = (error: unknown, user?: { email: string } | false | null) => void

/** One run of the strategy: its user, or null where it let nobody in. The strategy reads what it works on from the body. */
function run(
  request: Request,
  body: Record<string, string>,
  authenticate: (done: Done) => unknown,
): Promise<{ email: string } | null> {
  return new Promise((resolve, reject) => {
    const done: Done = (error, user) => (error ? reject(error) : resolve(user || null))
    request.body = body
    const handler = authenticate(done) as RequestHandler
    if (!request.res) return reject(new Error('the request has no response'))
    void handler(request, request.res, () => resolve(null))
  })
}

async function sendLink({
  request,
  email,
  token,
  runtime: { clock, keyring, config },
}: {
  request: Request
  email: string
  token: string
  runtime: HttpRuntime
}): Promise<void> {
  const now = clock.now()
  const network = networkOf(networkAddress(request))
  if (!(await takePlace({ what: `network|${network}`, most: MAILS_PER_NETWORK_ADDRESS, now }))) return
  if (!(await takePlace({ what: `address|${email}`, most: MAILS_PER_ADDRESS, now }))) return
  await keepSignIn({ token, email, now })
  const { BASE_URL: baseUrl } = config
  const content = signInMail({ url: signInUrl({ baseUrl, token }), host: new URL(baseUrl).host })
  await writeMail({ kind: 'sign-in', to: email, content, keyring, now, usefulMs: SIGN_IN_MS })
}

/** Lets whoever holds an address into every team that asked them. */
export async function joinTeams({
  request,
  email,
  runtime: { clock },
}: {
  request: Request
  email: string
  runtime: Pick<HttpRuntime, 'clock'>
}): Promise<void> {
  const now = clock.now()
  const by = { kind: 'member', id: email, from: networkAddress(request) } as const
  for (const { appId, invitation } of await openInvitations({ email, now })) {
    await audited(
      { at: now, by, action: 'member.joined', appId, target: email },
      () => acceptInvitation({ appId, invitation, now }),
      (joined) => (joined ? {} : null),
    )
  }
}
