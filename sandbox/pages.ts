const STYLE = `
:root{color-scheme:light;--ink:#1d2433;--soft:#5b6475;--line:#d5dae3;--brand:#0f766e;--bg:#f4f6f8}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:flex;flex-direction:column;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
header{display:flex;align-items:center;gap:10px;padding:18px 24px;font-weight:600}
header span{width:26px;height:26px;border-radius:8px;background:linear-gradient(135deg,#14b8a6,#0f766e)}
main{flex:1;display:flex;align-items:flex-start;justify-content:center;padding:4vh 16px 32px}
.card{width:100%;max-width:400px;background:#fff;border:1px solid var(--line);border-radius:14px;padding:28px;box-shadow:0 8px 24px #1d24330f}
.card.wide{max-width:640px}
h1{margin:0 0 6px;font-size:24px;line-height:1.25}
p{margin:0 0 18px;color:var(--soft);overflow-wrap:anywhere}
label{display:block;margin:0 0 14px;font-weight:500}
input{display:block;width:100%;margin-top:6px;padding:11px 12px;border:1px solid var(--line);border-radius:8px;font:inherit;color:inherit;background:#fff}
input:focus,button:focus-visible{outline:3px solid #14b8a666;border-color:var(--brand)}
button{width:100%;padding:12px;border:0;border-radius:8px;background:var(--brand);color:#fff;font:inherit;font-weight:600;cursor:pointer}
button:hover{background:#0b5f58}
button.plain{margin-top:10px;background:none;color:var(--brand)}
[role=alert]{margin:0 0 16px;padding:10px 12px;border-radius:8px;background:#fdecec;color:#9b1c1c}
ul{margin:0 0 18px;padding:0;list-style:none}
li{padding:10px 0;border-bottom:1px solid var(--line)}
@media(max-width:480px){main{padding:0}.card{max-width:none;border:0;border-radius:0;box-shadow:none;padding:24px 20px}body{background:#fff}}
`

const ESCAPES: { [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
}

function page({
  title,
  body,
  wide = false,
  script = '',
}: {
  title: string
  body: string
  wide?: boolean
  script?: string
}): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} - Sandbox Assistant</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<header><span aria-hidden="true"></span>Sandbox Assistant</header>
<main><div class="card${wide ? ' wide' : ''}">${body}</div></main>
${script && `<script>${script}</script>`}
</body>
</html>
`
}

const alert = (error: string | null): string => (error === null ? '' : `<div role="alert">${escapeHtml(error)}</div>`)

/**
 * Enter in the e-mail field goes on to the password. An address that starts with `popup` gets the next step in a second
 * window, and this one waits for it.
 */
const LOGIN_SCRIPT = `
const form = document.querySelector('form'), email = form.email, password = form.password
email.addEventListener('keydown', event => {
  if (event.key === 'Enter' && email.value && !password.value) { event.preventDefault(); password.focus() }
})
form.addEventListener('submit', () => {
  if (!/^popup[+@]/i.test(email.value.trim())) return
  form.target = 'identity'
  window.open('', 'identity', 'width=480,height=560')
  document.querySelector('h1').textContent = 'Finish in the other window'
  document.querySelector('p').textContent = 'Confirm there that it is you; this page goes on by itself.'
  setTimeout(() => { form.hidden = true })
  setInterval(async () => {
    const status = await fetch('/login/status').then(answer => answer.json()).catch(() => null)
    if (status && status.complete) location.href = '/'
  }, 500)
})`

export function loginPage({ email = '', error = null }: { email?: string; error?: string | null } = {}): string {
  return page({
    title: 'Sign in',
    script: LOGIN_SCRIPT,
    body: `<h1>Welcome back</h1><p>Sign in to go on to your conversations.</p>${alert(error)}
<form method="post" action="/login">
<label>E-mail<input type="email" name="email" autocomplete="username" required${email === '' ? ' autofocus' : ''} value="${escapeHtml(email)}"></label>
<label>Password<input type="password" name="password" autocomplete="current-password" required${email === '' ? '' : ' autofocus'}></label>
<button>Sign in</button>
</form>`,
  })
}

export function codePage({ email, error = null }: { email: string; error?: string | null }): string {
  return page({
    title: 'Verification',
    body: `<h1>Check your inbox</h1><p>Enter the six-digit code that was sent to ${escapeHtml(email)}.</p>${alert(error)}
<form method="post" action="/login/code">
<label>Code<input name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="12" required autofocus></label>
<button>Continue</button>
</form>`,
  })
}

export function consentPage({ email }: { email: string }): string {
  return page({
    title: 'Permission',
    body: `<h1>Allow this device?</h1><p>You are signing in as ${escapeHtml(email)} on a new device. It will be able to read your conversations.</p>
<form method="post" action="/login/consent">
<button name="answer" value="allow" autofocus>Allow</button>
<button class="plain" name="answer" value="deny">Cancel</button>
</form>`,
  })
}

export function confirmPage({ email }: { email: string }): string {
  return page({
    title: 'Confirm',
    body: `<h1>Is it you?</h1><p>Confirm that you are signing in as ${escapeHtml(email)}.</p>
<form method="post" action="/login/confirm"><button autofocus>Continue</button></form>`,
  })
}

/** The end of a second window: it closes, or goes on where it turns out to be the only one. */
export function confirmedPage(): string {
  return page({
    title: 'Confirmed',
    body: '<h1>Thank you</h1><p>You can close this window.</p><a href="/">Go on</a>',
    script: "if (window.opener) window.close(); else location.href = '/'",
  })
}

export function welcomePage({
  name,
  titles,
  total,
}: {
  name: string
  titles: (string | null)[]
  total: number
}): string {
  const items = titles.map((title) => `<li>${escapeHtml(title ?? 'Untitled')}</li>`).join('')
  return page({
    title: 'Conversations',
    wide: true,
    body: `<h1>Welcome, ${escapeHtml(name)}</h1><p>${total === 1 ? '1 conversation' : `${total} conversations`}</p>
<ul aria-label="Conversations">${items}</ul>
<form method="post" action="/logout"><button class="plain">Sign out</button></form>`,
  })
}
