import { html, type Markup } from '../kit/html.ts'
import type { Names, Texts } from '../kit/texts/en.ts'

/** The parts of the hosted page; its script (assets/start.ts) brings them to life. */
export function startAside({ start, states }: Texts): Markup {
  return html`<p class="address" data-remote-host hidden><svg class="lock" data-lock role="img" aria-label="${start.addressSecure}" viewBox="0 0 16 16" width="14" height="14" hidden><path d="M4.5 7V5a3.5 3.5 0 0 1 7 0v2h.5a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V8a1 1 0 0 1 1-1zM6 7h4V5a2 2 0 0 0-4 0z" fill="currentColor"/></svg><bdi data-host></bdi></p>
<p class="status" role="status" data-state="starting"><span class="dot" aria-hidden="true"></span><span data-status-text>${states.starting.status}</span></p>
<button type="button" class="cancel" data-cancel>${start.cancel}</button>`
}

export function startBody({
  flow,
  names,
  redirectUrl,
  texts: { start, states, returnTo, needsScript },
}: {
  flow: string
  names: Names
  redirectUrl: string | undefined
  texts: Texts
}): Markup {
  const { app, provider } = names
  return html`<main class="start" data-flow="${flow}" data-app="${app}" data-provider="${provider}"${redirectUrl !== undefined && html` data-redirect="${redirectUrl}"`}>
<h1 class="intro">${start.intro(provider)} <span class="quiet">${start.introApp(app)}</span></h1>
<section class="stage" aria-label="${provider}">
<canvas class="screen" tabindex="0" aria-label="${start.screen}" aria-describedby="screen-help" width="1" height="1" hidden></canvas>
<textarea class="catcher" tabindex="-1" aria-hidden="true" autocomplete="off" autocapitalize="off" spellcheck="false"></textarea>
<p id="screen-help" hidden>${start.screenHelp(provider)}</p>
<div class="cover">
<div class="panel">
<span class="sign" aria-hidden="true"></span>
<h2 data-cover-title>${states.starting.title}</h2>
<p data-cover-text>${states.starting.text(names)}</p>
<p role="alert" data-alert hidden></p>
<div class="choices">
<button type="button" class="button" data-continue hidden>${start.continueHere}</button>
<button type="button" class="button" data-again hidden>${start.tryAgain}</button>
<a class="button" data-return hidden>${returnTo(app)}</a>
</div>
</div>
</div>
<p class="notice" aria-live="polite" data-notice hidden></p>
</section>
<button type="button" class="close-window" data-close-window hidden>${start.closeWindow}</button>
<form class="typing" data-typing hidden>
<div class="typing-row">
<button type="button" class="to-field" aria-label="${start.previousField}" title="${start.previousField}" data-previous><span aria-hidden="true">‹</span></button>
<button type="button" class="to-field" aria-label="${start.nextField}" title="${start.nextField}" data-next><span aria-hidden="true">›</span></button>
<input data-text type="text" aria-label="${start.textToType}" placeholder="${start.textPlaceholder}" autocomplete="off" autocapitalize="none" autocorrect="off" spellcheck="false" enterkeyhint="send">
<button type="submit" class="button">${start.send}</button>
</div>
<div class="typing-row">
<button type="button" data-enter>${start.enter}</button>
<button type="button" data-clear>${start.clearField}</button>
<label class="switch"><input type="checkbox" role="switch" data-hide> <span>${start.hideText}</span></label>
</div>
</form>
<p class="foot">${start.foot(provider)}</p>
<dialog class="question" role="dialog" aria-labelledby="cancel-title" aria-describedby="cancel-text" data-cancel-question>
<h2 id="cancel-title">${start.cancelTitle}</h2>
<p id="cancel-text">${start.cancelText(names)}</p>
<div class="choices">
<button type="button" class="button" data-cancel-no autofocus>${start.cancelNo}</button>
<button type="button" class="button plain" data-cancel-yes>${start.cancelYes}</button>
</div>
</dialog>
<noscript><p role="alert" class="panel">${needsScript}</p></noscript>
</main>`
}
