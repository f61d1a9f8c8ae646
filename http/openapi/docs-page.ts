import { ERRORS } from '../../core/errors.ts'
import { EVENT_NAMES, eventPayloads } from '../../wire/events.ts'
import { html, type Markup } from '../pages/kit/html.ts'
import { API_VERSION } from './document.ts'
import { fieldTable } from './field-table.ts'
import { jsonSchemaOf } from './json-schema.ts'
import { OPERATIONS, type Operation } from './operations.ts'
import { SECTIONS } from './prose.ts'

/** The guide: prose and every operation and event, made once of the same shapes as the API description. */
export function docsPage({ stylesheet }: { stylesheet: string }): Markup {
  const events = EVENT_NAMES.filter((event) => event !== 'test.event')
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Conversation Connection Service: API</title>
<link rel="stylesheet" href="${stylesheet}">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<nav aria-label="Contents">
<p class="name">API <span>${API_VERSION}</span></p>
<ul>${SECTIONS.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>
<p>Operations</p>
<ul>${OPERATIONS.map(({ id, summary }) => html`<li><a href="#${id}">${summary}</a></li>`)}</ul>
<p>Events</p>
<ul>${events.map((event) => html`<li><a href="#${event}">${event}</a></li>`)}</ul>
</nav>
<main id="main">
<h1>Conversation Connection Service</h1>
<p>Connects your users’ AI-assistant accounts, imports their conversations and serves them as JSON. The same in OpenAPI 3.1:
<a href="/openapi.json">openapi.json</a>.</p>
${SECTIONS.map(({ id, title, text }) => html`<section id="${id}"><h2>${title}</h2>${text}</section>`)}
<h2>Operations</h2>
${OPERATIONS.map(operation)}
<h2>Events</h2>
${events.map((event) => html`<section id="${event}"><h3><code>${event}</code></h3>${event === 'connect.ended' && html`<p>Sent only to an app that has turned it on (<code>connectEndedEvents</code>): a flow that was started has ended, however it did.</p>`}${fieldTable(jsonSchemaOf(eventPayloads[event]))}</section>`)}
</main>
</body>
</html>`
}

function operation({
  id,
  method,
  template,
  summary,
  description,
  query,
  body,
  upload,
  answers,
  errors,
}: Operation): Markup {
  return html`<section id="${id}">
<h3>${summary}</h3>
<p><span class="method">${method.toUpperCase()}</span> <code>${template}</code></p>
<p>${code(description)}</p>
${query && html`<h4>Query</h4>${fieldTable(jsonSchemaOf(query))}`}
${body && html`<h4>Body</h4>${fieldTable(jsonSchemaOf(body))}`}
${upload && html`<h4>Body</h4><p>The export: raw, or the file of a <code>multipart/form-data</code> form.</p>`}
${Object.entries(answers).map(
  ([status, answer]) => html`<h4>${status}: ${answer.description}</h4>${fieldTable(jsonSchemaOf(answer.shape))}`,
)}
<h4>Errors</h4>
<table><thead><tr><th scope="col">Status</th><th scope="col">Message</th></tr></thead><tbody>
${errors
  .toSorted((a, b) => ERRORS[a][0] - ERRORS[b][0])
  .map((error) => html`<tr><td>${ERRORS[error][0]}</td><td><code>${ERRORS[error][1]}</code></td></tr>`)}
</tbody></table>
</section>`
}

/** Text with `code` in back quotes. */
const code = (text: string): Markup[] =>
  text.split('`').map((part, index) => (index % 2 ? html`<code>${part}</code>` : html`${part}`))
