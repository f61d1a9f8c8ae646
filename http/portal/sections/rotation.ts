import { ServiceError } from '../../../core/errors.ts'
import type { App, AppSecret } from '../../../schemas/app/app.ts'
import { DEFAULT_OVERLAP_S } from '../../../wire/ops-keys.ts'
import { endOverlap, type RotatedSecret, rotateAppSecret } from '../../actions/app-secrets.ts'
import { formField } from '../../pages/kit/form.ts'
import { html, type Markup } from '../../pages/kit/html.ts'
import { type Section, sectionPath, sendAppPage } from '../kit/layout.ts'
import { buttonForm, card, form, hidden, moment } from '../kit/parts.ts'
import { goTo } from '../kit/redirect.ts'
import type { AppExchange } from '../kit/visit.ts'

/** What is different between the two secrets of an app. */
interface Kind {
  secret: RotatedSecret
  section: Section
  listOf: (app: App) => AppSecret[]
  title: string
  text: string
  none: string
  button: string
  question: string
  /** What the overlap means. */
  meanwhile: string
  rotated: string
  ended: string
  shownAs: 'appSecret' | 'webhookSecret'
}

const KINDS: Record<RotatedSecret, Kind> = {
  app: {
    secret: 'app',
    section: 'settings',
    listOf: ({ linkSecrets }) => linkSecrets,
    title: 'App secret',
    text: 'Your backend signs connect and manage links with it, and nothing else.',
    none: 'There is none: no link is taken.',
    button: 'Rotate app secret',
    question: 'Rotate the app secret?',
    meanwhile:
      'For 24 hours links signed with either secret are taken. Put the new one into your backend in that time; nobody notices.',
    rotated: 'The app secret is new. For 24 hours links signed with the old one are taken too.',
    ended: 'Links signed with the old secret are refused from now on.',
    shownAs: 'appSecret',
  },
  webhook: {
    secret: 'webhook',
    section: 'webhooks',
    listOf: ({ webhookSecrets }) => webhookSecrets,
    title: 'Signing secret',
    text: 'Verify the signature of every event with it, so that you know it comes from here.',
    none: 'There is none: events carry no signature.',
    button: 'Rotate signing secret',
    question: 'Rotate the signing secret?',
    meanwhile:
      'For 24 hours every event carries two signatures, one of the old secret and one of the new. Put the new one into your backend in that time; nothing is lost meanwhile.',
    rotated: 'The signing secret is new. For 24 hours every event carries a signature of the old one too.',
    ended: 'Events are signed with the new secret alone.',
    shownAs: 'webhookSecret',
  },
}

/** The newest of the older secrets that are still valid. */
const overlapping = (list: AppSecret[], now: Date): AppSecret | undefined =>
  list.slice(1).find(({ expiresAt }) => expiresAt && expiresAt > now)

/** One of an app's two secrets: the card that says how it stands, and the forms with which owners rotate it. */
export function rotationOf(which: RotatedSecret) {
  const kind = KINDS[which]
  const pathOf = ({ app }: AppExchange): string => sectionPath(app._id, kind.section)

  const secretCard = (exchange: AppExchange): Markup => {
    const list = kind.listOf(exchange.app)
    const old = overlapping(list, exchange.runtime.clock.now())
    const path = pathOf(exchange)
    const owner = exchange.role === 'owner'
    return card(
      {
        title: kind.title,
        text: kind.text,
        aside: owner
          ? html`<div class="actions">${old && buttonForm(exchange, { action: `${path}/end-overlap`, label: 'End the old one now' })}${buttonForm(
              exchange,
              { action: `${path}/rotate`, method: 'get', label: kind.button },
            )}</div>`
          : undefined,
      },
      html`<p>${list[0] ? html`The present one was made ${moment(list[0].createdAt)}.` : kind.none} ${
        old?.expiresAt && html`The old one is valid until ${moment(old.expiresAt)}.`
      } ${!owner && html`<span class="soft">Owners can rotate it.</span>`}</p>`,
    )
  }

  const ask = (exchange: AppExchange): void => {
    const path = pathOf(exchange)
    sendAppPage(exchange, {
      section: kind.section,
      title: kind.question,
      body: card({ title: 'A new secret is made and shown once' }, [
        html`<p>${kind.meanwhile}</p>`,
        html`<div class="actions">${form(exchange, { action: `${path}/rotate` }, [
          // Whoever decided looking at another secret is asked again.
          hidden('from', kind.listOf(exchange.app)[0]?.id ?? ''),
          html`<button class="button primary">Rotate</button>`,
        ])}<a class="button plain" href="${path}">Cancel</a></div>`,
      ]),
    })
  }

  const rotate = async (exchange: AppExchange): Promise<void> => {
    const { app, by, runtime, request } = exchange
    const from = formField(request, 'from') || undefined
    const overlapSeconds = DEFAULT_OVERLAP_S
    try {
      const value = await rotateAppSecret({ appId: app._id, secret: which, overlapSeconds, from, by, runtime })
      await goTo(exchange, pathOf(exchange), {
        kind: 'status',
        text: kind.rotated,
        secret: { name: kind.shownAs, value },
      })
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'rotated_before') throw error
      // The page shows the secret too where this very visit has rotated it, by a click too many.
      await goTo(exchange, pathOf(exchange), {
        kind: 'alert',
        text: 'Nothing was rotated this time: the secret was rotated after you had opened the form.',
      })
    }
  }

  const endOld = async (exchange: AppExchange): Promise<void> => {
    const { app, by, runtime } = exchange
    await endOverlap({ appId: app._id, secret: which, by, runtime })
    await goTo(exchange, pathOf(exchange), { kind: 'status', text: kind.ended })
  }

  return { secretCard, ask, rotate, endOld }
}
