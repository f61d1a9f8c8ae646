import { setTimeout as sleep } from 'node:timers/promises'
import express, { type Request, type Response, Router } from 'express'
import { codePage, confirmedPage, confirmPage, consentPage, loginPage, welcomePage } from './pages.ts'
import { advanceSession, beginSession, clearSession, type Session, sessionOf } from './sessions.ts'
import { type AccountState, listOf, type SiteState, stateOf } from './state.ts'
import type { LoginStage } from './tokens.ts'

const WRONG_PASSWORD = 'wrong'
const CODE = '123456'
const SLOW_PAGE_MS = 5_000
const TITLES_SHOWN = 8

/** Where a login that is not complete goes on. */
const STEPS: Record<LoginStage, string> = {
  code: '/login/code',
  consent: '/login/consent',
  window: '/login/confirm',
  complete: '/',
}

/** The pages that a person sees: sign in, the steps after it, and what comes then. */
export function loginRoutes(site: SiteState): Router {
  const router = Router()
  router.use(express.urlencoded({ extended: false, limit: '16kb' }))

  const show = async (response: Response, state: AccountState | null, html: string): Promise<void> => {
    await slowness(state)
    response.set('Cache-Control', 'no-store').type('html').send(html)
  }
  const goTo = async (response: Response, state: AccountState | null, path: string): Promise<void> => {
    await slowness(state)
    response.redirect(303, path)
  }
  /** A page of one step: whoever is at another step is sent there. */
  const step = (
    stage: LoginStage,
    handle: (session: Session, request: Request, response: Response) => Promise<void>,
  ) => {
    return async (request: Request, response: Response): Promise<void> => {
      const session = sessionOf(site, request)
      if (session?.token.stage === stage) return handle(session, request, response)
      await goTo(response, null, session ? STEPS[session.token.stage] : '/login')
    }
  }

  router.get('/login', async (request, response) => {
    const session = sessionOf(site, request)
    if (session?.token.stage === 'complete') return goTo(response, session.state, '/')
    await show(response, null, loginPage())
  })

  router.post('/login', async (request, response) => {
    const email = formField(request, 'email')
    const state = stateOf(site, email)
    if (state === null) return show(response, null, loginPage({ error: 'Enter an e-mail address.' }))
    if (['', WRONG_PASSWORD].includes(formField(request, 'password'))) {
      response.status(401)
      return show(response, state, loginPage({ email, error: 'Wrong e-mail or password.' }))
    }
    const stage = firstStage(state)
    beginSession(site, response, state, stage)
    await goTo(response, state, STEPS[stage])
  })

  router.get(
    '/login/code',
    step('code', ({ state }, _, response) => show(response, state, codePage(state.account))),
  )
  router.post(
    '/login/code',
    step('code', async (session, request, response) => {
      const { state } = session
      if (formField(request, 'code').replaceAll(' ', '') !== CODE) {
        response.status(401)
        return show(response, state, codePage({ email: state.account.email, error: 'That code is wrong. Try again.' }))
      }
      advanceSession(session, response, 'consent')
      await goTo(response, state, STEPS.consent)
    }),
  )

  router.get(
    '/login/consent',
    step('consent', ({ state }, _, response) => show(response, state, consentPage(state.account))),
  )
  router.post(
    '/login/consent',
    step('consent', async (session, request, response) => {
      const allowed = formField(request, 'answer') !== 'deny'
      if (allowed) advanceSession(session, response, 'complete')
      else clearSession(response)
      await goTo(response, session.state, allowed ? '/' : '/login')
    }),
  )

  router.get(
    '/login/confirm',
    step('window', ({ state }, _, response) => show(response, state, confirmPage(state.account))),
  )
  router.post(
    '/login/confirm',
    step('window', async (session, _, response) => {
      advanceSession(session, response, 'complete')
      await show(response, session.state, confirmedPage())
    }),
  )

  router.get('/login/status', (request, response) => {
    response.json({ complete: sessionOf(site, request)?.token.stage === 'complete' })
  })

  router.get(
    '/',
    step('complete', ({ state }, _, response) => {
      const list = listOf(site, state)
      const titles = list.slice(0, TITLES_SHOWN).map(({ title }) => title)
      return show(response, state, welcomePage({ name: state.account.name, titles, total: list.length }))
    }),
  )

  router.post('/logout', (_, response) => {
    clearSession(response)
    response.redirect(303, '/login')
  })
  return router
}

function firstStage({ account }: AccountState): LoginStage {
  if (account.kind === 'verify') return 'code'
  return account.kind === 'popup' ? 'window' : 'complete'
}

async function slowness(state: AccountState | null): Promise<void> {
  if (state?.account.kind === 'slow') await sleep(SLOW_PAGE_MS)
}

function formField(request: Request, name: string): string {
  const value: unknown = (request.body as { [key: string]: unknown } | undefined)?.[name]
  return typeof value === 'string' ? value : ''
}
