/** The frame around every page. */
import { type Assets, messageStyle } from './assets.ts';
import { lostRefusal } from './forms.ts';
import { type Content, type Html, html } from './html.ts';
import type { Place, Seen, View } from './page.ts';

export interface Tab {
  name: string;
  label: string;
  path: string;
}

/** What administrators show on every page. */
export interface House {
  /** Messages for the reader of the page. */
  notices: readonly Notice[];
  /** Texts above and below the page, and their colours. */
  header_message: string;
  footer_message: string;
  message_background_color: string;
  message_font_color: string;
  /** Paths of pictures on the server. */
  header_logo: string | null;
  favicon: string | null;
  /** Whether browsers can keep the page as an application. */
  is_application: boolean;
}

/** A message on a page. */
export interface Notice {
  id: number;
  theme: string;
  text: Html;
  /** Whether the reader can hide it. */
  is_dismissable: boolean;
}

/** A page without them. */
export const plainHouse: House = {
  notices: [],
  header_message: '',
  footer_message: '',
  message_background_color: '#000',
  message_font_color: '#fff',
  header_logo: null,
  favicon: null,
  is_application: false,
};

/** Where a message is hidden. */
export const dismissalPath = '/-/dismissed_messages';

const noticeView = ({ id, theme, text, is_dismissable }: Notice, { path }: Seen): Html =>
  html`<div class="${`broadcast theme-of-${theme}`}"><p>${text}</p>${
    is_dismissable &&
    html`<form method="post" action="${dismissalPath}"><input type="hidden" name="message_id" value="${id}"><input type="hidden" name="to" value="${path}"><button class="plain" name="_do" value="dismiss">Dismiss</button></form>`
  }</div>`;

const messageView = (text: string): Content => text !== '' && html`<p class="message">${text}</p>`;

/** The inputs of the layout besides the view. */
export interface Surroundings {
  /** The addresses of the assets. */
  assets: Assets;
  /** The tabs of the project or group. */
  tabs: readonly Tab[];
  house: House;
}

/** The breadcrumbs of a group or project: each part of its path is a link. */
function trail({ id, kind }: Place): Html {
  const names = id.split('/');
  const steps = names.map((name, index) => {
    const path = names
      .slice(0, index + 1)
      .map(encodeURIComponent)
      .join('/');
    const isProject = kind === 'project' && index === names.length - 1;
    return html`<li><a href="${isProject ? `/${path}` : index === 0 && kind === 'project' ? `/${path}` : `/groups/${path}`}">${name}</a></li>`;
  });
  return html`<nav class="trail" aria-label="Path"><ol>${steps}</ol></nav>`;
}

const tabsOf = (tabs: readonly Tab[], current: string | undefined): Content =>
  tabs.length > 0 &&
  html`<nav class="tabs" aria-label="Sections"><ul>${tabs.map(
    ({ name, label, path }) =>
      html`<li><a href="${path}" ?aria-current="${name === current && 'page'}">${label}</a></li>`,
  )}</ul></nav>`;

/** A search starts in the project or group of the page. */
const searchPath = (place: Place | undefined): string =>
  place ? `/search?${place.kind}_id=${encodeURIComponent(place.id)}` : '/search';

/** Links and the menu of the caller. */
function accountOf({ caller, path }: Seen, place: Place | undefined): Html {
  if (!caller) return html`<a href="${`/users/sign_in?to=${encodeURIComponent(path)}`}">Sign in</a>`;
  return html`<a href="${searchPath(place)}">Search</a> <a href="/dashboard/todos">To-do list</a>
<details class="menu"><summary>${caller.name}</summary>
<ul>
<li><a href="${`/${caller.username}`}">@${caller.username}</a></li>
<li><a href="/projects/new">New project</a></li>
<li><a href="/groups/new">New group</a></li>
<li><a href="/-/user_settings/personal_access_tokens">Access tokens</a></li>
<li><a href="/-/user_settings/ssh_keys">SSH keys</a></li>
<li><a href="/-/profile/preferences">Settings</a></li>
<li><form method="post" action="/users/sign_out"><button class="plain" name="_do" value="sign_out">Sign out</button></form></li>
</ul></details>`;
}

const mark = html`<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M8 1 3 8h2.5L3 12h4v3h2v-3h4l-2.500-4H13z"/></svg>Coppice`;
const brandOf = ({ header_logo }: House): Html =>
  header_logo === null ? mark : html`<img src="${header_logo}" alt="Coppice" height="24">`;

/** The page before and behind its main part, which may come in pieces. */
export function layout(view: View, seen: Seen, { assets, tabs, house }: Surroundings): { before: Html; after: Html } {
  const { title, heading = title[0], place } = view;
  const theme = seen.caller?.session.theme ?? 'auto';
  const hasMessage = house.header_message !== '' || house.footer_message !== '';
  const before = html`<!doctype html>
<html lang="en" class="${`theme-${theme}`}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${[...title, 'Coppice'].join(' · ')}</title>
${Object.entries(view.metadata ?? {}).map(
  ([name, content]) => html`<meta name="${name}" content="${content}">
`,
)}<link rel="stylesheet" href="${assets.style}">
<link rel="icon" href="${house.favicon ?? assets.icon}">
${
  hasMessage &&
  html`<link rel="stylesheet" href="${messageStyle(house.message_background_color, house.message_font_color)}">
`
}${
  house.is_application &&
  html`<link rel="manifest" href="/-/manifest.json">
`
}<script type="module" src="${assets.script}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
${messageView(house.header_message)}<header class="bar"><a class="brand" href="/">${brandOf(house)}</a><nav aria-label="Main">${accountOf(seen, place)}</nav></header>
${house.notices.map((notice) => noticeView(notice, seen))}${place && trail(place)}${tabsOf(tabs, place?.tab)}
<main id="main" tabindex="-1">
<h1>${heading}</h1>
${lostRefusal(view, seen)}`;
  return {
    before,
    after: html`</main>
<footer><a href="/docs">API</a></footer>
${messageView(house.footer_message)}</body>
</html>
`,
  };
}
