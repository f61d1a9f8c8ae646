import { html, type Markup } from '../pages/kit/html.ts'

/** What the guide says beside the operations; each section has an anchor of its own. */
export const SECTIONS: { id: string; title: string; text: Markup }[] = [
  {
    id: 'authentication',
    title: 'Authentication',
    text: html`<p>Every call carries <code>Authorization: Bearer &lt;API key&gt;</code>. Keys start with <code>ccs_</code>; several may be
      active at once, so that a key can be replaced without downtime. Keep them on your servers. A call without the header answers 401
      <code>Missing Authorization header</code>, one with a wrong key 401 <code>Invalid API key</code>.</p>
      <p>The app secret is for signing links. As a Bearer token it still works and is deprecated: such answers carry
      <code>Deprecation</code> and <code>Sunset</code> headers.</p>`,
  },
  {
    id: 'links',
    title: 'Links',
    text: html`<p>A link is <code>{base}/start?token=…</code> (connect) or <code>{base}/manage?token=…</code> (manage). The token is a JWT signed
      HS256 with the app secret’s UTF-8 bytes, with the claims <code>appId</code>, <code>userRef</code>, <code>scopes</code> (an array;
      <code>conversations:read</code>), <code>purpose</code> (<code>connect</code> or <code>manage</code>), <code>jti</code>,
      <code>iat</code> and <code>exp</code>, at most 15 minutes after <code>iat</code>. Optional: <code>provider</code>,
      <code>redirectUrl</code> (https) for where the page goes at the end, and <code>locale</code>, the page’s language. A connect link works once; a manage link is consumed when
      the user confirms the deletion.</p>`,
  },
  {
    id: 'limits',
    title: 'Rate limit',
    text: html`<p>The GET endpoints answer 60 requests a minute for each app. Every answer carries <code>RateLimit-Limit</code>,
      <code>RateLimit-Remaining</code> and <code>RateLimit-Reset</code> (Unix time); beyond the limit it is 429 with
      <code>Retry-After</code>. Deletions and ingestions are not counted: reading never holds them up.</p>`,
  },
  {
    id: 'paging',
    title: 'Reading a history',
    text: html`<p>Follow <code>nextCursor</code> until it is null: no conversation comes twice, whatever is imported meanwhile. To read only
      what changed since the last time, give <code>updatedAfter</code> the newest <code>update_time</code> that you have. Listings carry
      an <code>ETag</code>; send it back as <code>If-None-Match</code> and an unchanged listing answers 304. Answers are compressed
      where you accept gzip or br.</p>`,
  },
  {
    id: 'errors',
    title: 'Errors',
    text: html`<p>Every error is <code>{"error": "…"}</code>; the strings are stable. On 429 wait as long as <code>Retry-After</code> says. On 500
      and 503 try again after 1, 2, 4 … seconds, up to a minute. A parameter that is repeated, of a wrong type or out of bounds is
      answered 400 with its name. Every answer carries <code>X-Request-Id</code>: name it when you ask for help.</p>`,
  },
  {
    id: 'webhooks',
    title: 'Webhooks',
    text: html`<p>Each event is a POST of <code>{"event", "payload", "deliveryId"}</code> to your webhook URL with the header
      <code>X-Service-Event</code>. Answer 2xx within 10 seconds, also to events that you do not handle; anything else is tried again
      after 2, 4, 8, 16 and 32 minutes, and then dropped. Retries keep their <code>deliveryId</code>: drop duplicates by it. Order is
      not guaranteed.</p>
      <p><code>X-Service-Signature</code> is <code>t=&lt;unix seconds&gt;,v1=&lt;hex&gt;</code>, where v1 is the HMAC-SHA256 of
      <code>&lt;t&gt;.&lt;raw body&gt;</code> with the webhook secret. While a secret is rotated there is a <code>v1=</code> for each:
      accept any that fits. Verify the raw body, and refuse a t that is more than five minutes off.</p>`,
  },
]
