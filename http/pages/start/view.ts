import type { ProviderProfile } from '../../../provider/profile.ts'
import { html, type Markup } from '../kit/html.ts'

/** The parts of the hosted page; its script (assets/start.ts) brings them to life. */
export function startAside(): Markup {
  return html`<p class="status" role="status" data-state="starting"><span class="dot" aria-hidden="true"></span><span data-status-text>Opening a browser…</span></p>`
}

export function startBody({
  flow,
  appName,
  profile,
  redirectUrl,
}: {
  flow: string
  appName: string
  profile: ProviderProfile
  redirectUrl: string | undefined
}): Markup {
  return html`<main class="start" data-flow="${flow}" data-app="${appName}" data-provider="${profile.displayName}"${redirectUrl !== undefined && html` data-redirect="${redirectUrl}"`}>
<h1 class="intro">Sign in to ${profile.displayName} <span class="quiet">to connect it to ${appName}</span></h1>
<section class="stage" aria-label="${profile.displayName}">
<canvas class="screen" tabindex="0" aria-label="Remote browser" aria-describedby="screen-help" width="1" height="1" hidden></canvas>
<textarea class="catcher" tabindex="-1" aria-hidden="true" autocomplete="off" autocapitalize="off" spellcheck="false"></textarea>
<p id="screen-help" class="unseen">The sign-in page of ${profile.displayName}, shown as a picture. What you type goes to it. Press F6 to leave it.</p>
<div class="cover">
<div class="panel">
<span class="sign" aria-hidden="true"></span>
<h2 data-cover-title>Opening a browser…</h2>
<p data-cover-text>${profile.displayName}’s sign-in page is here in a few seconds.</p>
<p role="alert" data-alert hidden></p>
<button type="button" class="button" data-continue hidden>Continue here</button>
<a class="button" data-return hidden>Return to ${appName}</a>
</div>
</div>
<p class="notice" aria-live="polite" data-notice hidden></p>
</section>
<form class="typing" data-typing hidden>
<div class="typing-row">
<input data-text type="text" aria-label="Text to type" placeholder="Type here, then Send" autocomplete="off" autocapitalize="none" autocorrect="off" spellcheck="false" enterkeyhint="send">
<button type="submit" class="button">Send</button>
</div>
<div class="typing-row">
<button type="button" data-enter>Enter</button>
<button type="button" data-clear>Clear field</button>
<label class="switch"><input type="checkbox" role="switch" data-hide> <span>Hide text</span></label>
</div>
</form>
<p class="foot">You sign in on ${profile.displayName}’s own page. Your password is passed on to it and not kept.</p>
<noscript><p role="alert" class="panel">This page needs JavaScript to show the sign-in.</p></noscript>
</main>`
}
