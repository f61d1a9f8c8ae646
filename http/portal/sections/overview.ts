import type { App } from '../../../schemas/app/app.ts'
import { SUNSET } from '../../access/api-key.ts'
import { type AppSummary, createSummaries } from '../../actions/app-summary.ts'
import type { HttpRuntime } from '../../kit/runtime.ts'
import { html, type Markup } from '../../pages/kit/html.ts'
import { chart } from '../kit/chart.ts'
import { type Section, sectionPath, sendAppPage } from '../kit/layout.ts'
import { card, emptyState, moment, number } from '../kit/parts.ts'
import type { PortalHandlers } from '../kit/portal-router.ts'

export function overviewHandlers(runtime: HttpRuntime): Pick<PortalHandlers, 'GET /apps/:appId/overview'> {
  const summaryOf = createSummaries(runtime)
  return {
    'GET /apps/:appId/overview': async (exchange) => {
      const { app } = exchange
      const summary = await summaryOf(app)
      sendAppPage(exchange, {
        section: 'overview',
        title: 'Overview',
        lead: 'How your app stands, and the last 30 days.',
        body: [
          ...(app.bearerSecretUsedAt ? [deprecation(app.bearerSecretUsedAt)] : []),
          ...(summary.steps.connection && summary.steps.delivery ? [] : [checklist(app, summary)]),
          numbers(summary),
          charts(app, summary),
        ],
      })
    },
  }
}

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

const deprecation = (usedAt: Date): Markup =>
  html`<p class="notice warn"><strong>Deprecated:</strong> your backend sends the app secret as a Bearer token, last at ${moment(
    usedAt,
  )}. This ends on ${day.format(SUNSET)} at the earliest. Send an API key instead.</p>`

interface Step {
  step: keyof AppSummary['steps']
  title: string
  text: string
  section?: Section
  href?: string
}

const STEPS: Step[] = [
  { step: 'endpoint', title: 'Set your webhook endpoint', text: 'Where events are posted to.', section: 'webhooks' },
  { step: 'key', title: 'Make an API key', text: 'Your backend reads conversations with it.', section: 'keys' },
  {
    step: 'link',
    title: 'Send the first connect link',
    text: 'Signed by your backend with the app secret.',
    href: '/docs',
  },
  {
    step: 'connection',
    title: 'See the first connection',
    text: 'A user signed in at their assistant.',
    section: 'users',
  },
  {
    step: 'delivery',
    title: 'Take the first delivery',
    text: 'Your endpoint answered an event with 2xx.',
    section: 'webhooks',
  },
]

function checklist(app: App, { steps }: AppSummary): Markup {
  const done = STEPS.filter(({ step }) => steps[step]).length
  return card(
    { title: 'Get started', text: `${done} of ${STEPS.length} steps are done.` },
    html`<ol class="steps">${STEPS.map(({ step, title, text, section, href }, index) => {
      const address = section ? sectionPath(app._id, section) : (href ?? '')
      return html`<li${steps[step] && html` class="done"`}><span class="mark" aria-hidden="true">${steps[step] ? '✓' : index + 1}</span><div>
<strong>${steps[step] ? title : html`<a href="${address}">${title}</a>`}</strong>${steps[step] && html` <span class="unseen">(done)</span>`}
<p class="soft">${text}</p></div></li>`
    })}</ol>`,
  )
}

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0)

function numbers({ connections, conversations, days }: AppSummary): Markup {
  const shown: [string, string][] = [
    ['Active connections', number(connections.active)],
    ['Sign-in needed', number(connections.needs_reauth)],
    ['Revoked', number(connections.revoked)],
    ['Conversations', conversations === null ? 'Many' : number(conversations)],
    ['Delivered in 30 days', number(sum(days.map(({ delivered }) => delivered)))],
  ]
  return html`<dl class="numbers">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

function charts(app: App, { days }: AppSummary): Markup {
  if (days.every((each) => each.requests + each.delivered + each.failed + each.discarded === 0))
    return card(
      { title: 'The last 30 days' },
      emptyState({
        title: 'Nothing counted yet',
        text: 'Requests, deliveries and failures stand here as charts from the first one on.',
      }),
    )
  const names = days.map((each) => each.day)
  const of = (what: 'requests' | 'refused' | 'busiest' | 'delivered' | 'failed' | 'discarded') =>
    days.map((each) => each[what])
  return html`<div class="charts">
${card(
  {
    title: 'Requests',
    text: `${number(sum(of('requests')))} in 30 days, ${number(sum(of('refused')))} over the limit`,
  },
  chart({
    days: names,
    series: [
      { label: 'Requests', values: of('requests') },
      { label: 'Over the limit', values: of('refused') },
    ],
  }),
)}
${card(
  { title: 'Busiest minute of the day', text: `Your limit is ${number(app.requestsPerMinute)} requests a minute` },
  chart({
    days: names,
    series: [{ label: 'Requests in the busiest minute', values: of('busiest') }],
    limit: app.requestsPerMinute,
  }),
)}
${card(
  { title: 'Events delivered', text: `${number(sum(of('delivered')))} in 30 days` },
  chart({
    days: names,
    series: [{ label: 'Delivered', values: of('delivered'), tone: 'good' }],
  }),
)}
${card(
  {
    title: 'Attempts that failed',
    text: `${number(sum(of('failed')))} in 30 days; ${number(sum(of('discarded')))} events discarded for want of an endpoint`,
  },
  chart({
    days: names,
    series: [
      { label: 'Failed attempts', values: of('failed'), tone: 'bad' },
      { label: 'Discarded events', values: of('discarded') },
    ],
  }),
)}
</div>`
}
