import { z } from 'zod'
import { MINUTE } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { normalEmail } from '../../schemas/member/role.ts'
import { beginSession, endSession, endSessionsOf } from '../../schemas/member/session.ts'
import { findPending } from '../../schemas/member/sign-in.ts'
import { membershipsOf } from '../../schemas/member/team.ts'
import { recordAudit } from '../../schemas/operations/audit.ts'
import { joinTeams, type MagicLink } from '../access/magic-link.ts'
import { clearPortalCookie, setPortalCookie } from '../access/member.ts'
import { networkAddress } from '../access/network-address.ts'
import { sealedCookie } from '../access/sealed-cookie.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import { formField } from '../pages/kit/form.ts'
import { html } from '../pages/kit/html.ts'
import { sendPlainPage } from './kit/layout.ts'
import { field, form } from './kit/parts.ts'
import type { PortalHandlers } from './kit/portal-router.ts'
import type { Exchange, MemberExchange } from './kit/visit.ts'
import { PORTAL_PATH, SIGN_IN_PATH } from './routes.ts'

const CONFIRM_PATH = `${SIGN_IN_PATH}/confirm`
const LONGEST_EMAIL = 254
/** Longer than any link of ours. */
const LONGEST_TOKEN = 2_048

/** What a browser keeps of the link that it opened, from the link to the button. */
const linkCookie = (runtime: HttpRuntime) =>
  sealedCookie<{ token: string }>({
    name: 'ccs_sign_in',
    page: 'sign-in',
    path: SIGN_IN_PATH,
    lifetimeMs: 15 * MINUTE,
    runtime,
  })

type SignInHandlers = Pick<
  PortalHandlers,
  | 'GET /sign-in'
  | 'POST /sign-in'
  | 'GET /sign-in/link'
  | 'GET /sign-in/confirm'
  | 'POST /sign-in/confirm'
  | 'POST /sign-out'
  | 'POST /sign-out-everywhere'
>

/** Signing in and out (docs/behaviour.md, Developer portal). */
export const signInHandlers = ({ magicLink }: { magicLink: MagicLink }): SignInHandlers => ({
  'GET /sign-in': (exchange) => {
    if (exchange.visit.member) return exchange.response.redirect(303, PORTAL_PATH)
    showForm(exchange, {})
  },
  'POST /sign-in': (exchange) => requestLink(exchange, magicLink),
  'GET /sign-in/link': openLink,
  'GET /sign-in/confirm': showConfirmation,
  'POST /sign-in/confirm': (exchange) => signIn(exchange, magicLink),
  'POST /sign-out': async ({ visit, response, runtime }) => {
    await endSession({ cookie: visit.cookie })
    leave(response, runtime)
  },
  'POST /sign-out-everywhere': async ({ email, response, runtime }: MemberExchange) => {
    await endSessionsOf({ email })
    leave(response, runtime)
  },
})

function leave(response: Exchange['response'], runtime: HttpRuntime): void {
  clearPortalCookie(response, runtime)
  response.redirect(303, SIGN_IN_PATH)
}

const emailField = z.email().max(LONGEST_EMAIL)

function showForm(
  exchange: Exchange,
  { value, alert, status }: { value?: string; alert?: string; status?: number },
): void {
  sendPlainPage(exchange, {
    ...(status !== undefined && { status }),
    title: 'Sign in',
    body: html`<h1>Sign in</h1>
<p class="soft">Enter your work e-mail and we send you a link. There is no password.</p>
${alert !== undefined && html`<p role="alert" class="notice bad">${alert}</p>`}
${form(exchange, { action: SIGN_IN_PATH, className: 'stack' }, [
  field({
    label: 'Work e-mail',
    name: 'email',
    type: 'email',
    value,
    required: true,
    autocomplete: 'email',
    maxLength: LONGEST_EMAIL,
  }),
  html`<button class="button primary">Send sign-in link</button>`,
])}
<p class="hint">Access is by invitation. No invitation yet? Ask an owner of your app.</p>`,
  })
}

async function requestLink(exchange: Exchange, magicLink: MagicLink): Promise<void> {
  const { request } = exchange
  const value = formField(request, 'email')?.trim() ?? ''
  if (!emailField.safeParse(value).success)
    return showForm(exchange, { value, status: 400, alert: 'Enter an e-mail address, such as name@company.com.' })
  await magicLink.request(request, normalEmail(value))
  sendPlainPage(exchange, {
    title: 'Check your mail',
    body: html`<h1>Check your mail</h1>
<p role="status">If <strong>${value}</strong> belongs to a member, a sign-in link is on its way. It works once, within an hour.</p>
<p class="hint">Nothing there? Look into the spam folder, or ask an owner of your app whether you were invited with this address.</p>
<p><a href="${SIGN_IN_PATH}">Use another address</a></p>`,
  })
}

/** The link of a mail: the token leaves the address bar, and nothing is consumed. */
function openLink({ request, response, runtime }: Exchange): void {
  const { token } = request.query
  if (typeof token !== 'string' || token.length > LONGEST_TOKEN) throw new ServiceError('sign_in_used')
  linkCookie(runtime).give(response, { token })
  response.redirect(303, CONFIRM_PATH)
}

const keptToken = ({ request, runtime }: Exchange): string => {
  const kept = linkCookie(runtime).read(request.headers.cookie)
  if (!kept) throw new ServiceError('sign_in_used')
  return kept.token
}

async function showConfirmation(exchange: Exchange): Promise<void> {
  const now = exchange.runtime.clock.now()
  const pending = await findPending({ token: keptToken(exchange), now })
  if (!pending) throw new ServiceError('sign_in_used')
  sendPlainPage(exchange, {
    title: 'Sign in',
    body: html`<h1>Sign in</h1>
<p>You sign in as <strong>${pending.email}</strong>.</p>
${form(exchange, { action: CONFIRM_PATH, className: 'stack' }, html`<button class="button primary">Sign in</button>`)}`,
  })
}

/** Consumes the link; the visit goes on under a new id that nobody has seen before. */
async function signIn(exchange: Exchange, magicLink: MagicLink): Promise<void> {
  const { request, response, runtime, visit } = exchange
  const email = await magicLink.accept(request, keptToken(exchange))
  if (email === null) throw new ServiceError('sign_in_used')
  await joinTeams({ request, email, runtime })
  const apps = await membershipsOf(email)
  if (apps.length === 0) throw new ServiceError('sign_in_used')
  const now = runtime.clock.now()
  const by = { kind: 'member', id: email, from: networkAddress(request) } as const
  // Before anybody is in: a process that is killed here leaves an entry too many, never a visit without one.
  for (const { appId } of apps) await recordAudit({ at: now, by, action: 'member.signed-in', appId, target: email })
  await endSession({ cookie: visit.cookie })
  setPortalCookie(response, { cookie: await beginSession({ email, now }) }, runtime)
  response.redirect(303, PORTAL_PATH)
}
