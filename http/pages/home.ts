import { Router } from 'express'
import { endpoint } from '../kit/endpoint.ts'
import type { PageContext } from './kit/exchange.ts'
import { html } from './kit/html.ts'
import { sendPage } from './kit/layout.ts'

/** `GET /`: where people go on from, who came to the address itself. */
export function homeRouter({ assets }: PageContext): Router {
  const router = Router()
  endpoint(router, '/', {
    get: [
      (_request, response) =>
        sendPage(response, 200, {
          assets,
          title: 'Conversation Connection Service',
          body: html`<main class="alone"><div class="panel">
<h1>Conversation Connection Service</h1>
<p>Connects the assistant accounts of your users to your app.</p>
<a class="button" href="/docs">Documentation</a><a class="button" href="/developers">Developer portal</a>
</div></main>`,
        }),
    ],
  })
  return router
}
