/** The frame around every page. */
import { type Assets, messageStyle } from './assets.ts';
import { lostRefusal } from './forms.ts';
import { type Content, type Html, html } from './html.ts';
import { type IconName, icon } from './icons.ts';
import { face, time } from './marks.ts';
import type { Place, Seen, View } from './page.ts';

/** A page of a project or group. */
interface SectionPage {
  name: string;
  label: string;
  path: string;
}

/** Pages of a project or group that belong together; there is at least one. */
export interface Section {
  label: string;
  icon: IconName;
  /** How much waits in it. */
  count?: string | undefined;
  pages: readonly SectionPage[];
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

/** Where a second factor is set up. */
export const secondFactorPath = '/-/user_settings/two_factor';

/** Where a message is hidden. */
export const dismissalPath = '/-/dismissed_messages';

const noticeView = ({ id, theme, text, is_dismissable }: Notice, { path }: Seen): Html =>
  html`<div class="${`broadcast theme-of-${theme}`}"><p>${text}</p>${
    is_dismissable &&
    html`<form method="post" action="${dismissalPath}"><input type="hidden" name="message_id" value="${id}"><input type="hidden" name="to" value="${path}"><button class="plain" name="_do" value="dismiss">Dismiss</button></form>`
  }</div>`;

/** What somebody is told who must set up a second factor soon. */
const factorNotice = ({ caller, path }: Seen): Content => {
  const due = caller?.session.second_factor.due;
  return (
    due instanceof Date &&
    path !== secondFactorPath &&
    html`<div class="broadcast theme-of-light"><p>You must set up a second factor before ${time(due.toISOString())}. <a href="${secondFactorPath}">Set it up</a></p></div>`
  );
};

const messageView = (text: string): Content => text !== '' && html`<p class="message">${text}</p>`;

/** The inputs of the layout besides the view. */
export interface Surroundings {
  /** The addresses of the assets. */
  assets: Assets;
  /** The sections of the project or group. */
  sections: readonly Section[];
  house: House;
}

/** The breadcrumbs of a group or project: each part of its path is a link. */
function crumbs({ id, kind }: Place): Html {
  const names = id.split('/');
  const steps = names.map((name, index) => {
    const path = names
      .slice(0, index + 1)
      .map(encodeURIComponent)
      .join('/');
    const isProject = kind === 'project' && index === names.length - 1;
    return html`<li><a href="${isProject ? `/${path}` : index === 0 && kind === 'project' ? `/${path}` : `/groups/${path}`}">${name}</a></li>`;
  });
  return html`<nav class="crumbs" aria-label="Path"><ol>${steps}</ol></nav>`;
}

const sectionsId = 'sections';

/**
 * The sections of a project or group: a row, with the pages of the current section below it, and on narrow screens a drawer.
 * @param current the name of the page
 */
function sectionsView(sections: readonly Section[], current: string | undefined): Content {
  if (sections.length === 0) return undefined;
  const isHere = ({ pages }: Section) => pages.some(({ name }) => name === current);
  const here = sections.find(isHere);
  const items = sections.map((section) => {
    const { label, icon: sign, count, pages } = section;
    const isOnly = pages.length === 1;
    const mark = isHere(section) && (isOnly ? 'page' : 'true');
    return html`<li><a href="${pages[0]!.path}" ?aria-current="${mark}">${icon(sign)}${label}${count && html`<span class="count" aria-hidden="true">${count}</span>`}</a>${
      !isOnly &&
      html`<ul>${pages.map(
        ({ name, label: title, path }) =>
          html`<li><a href="${path}" ?aria-current="${name === current && 'page'}">${title}</a></li>`,
      )}</ul>`
    }</li>
`;
  });
  return html`<button class="map" type="button" popovertarget="${sectionsId}">${icon(here?.icon ?? 'menu')}${here?.label ?? 'Sections'}${icon('down')}</button>
<nav class="sections" id="${sectionsId}" popover aria-label="Sections"><ul>
${items}</ul></nav>`;
}

/** The field for searching, which starts in the project or group of the page. */
const searchForm = (place: Place | undefined): Html =>
  html`<form class="find" role="search" aria-label="Coppice" action="/search">${
    place && html`<input type="hidden" name="${`${place.kind}_id`}" value="${place.id}">`
  }<button class="quiet" aria-label="Search">${icon('search')}</button><input type="search" name="search" aria-label="Search for" placeholder="${
    place ? `Search in ${place.id.split('/').at(-1)}…` : 'Search…'
  }"></form>`;

/** A menu at the top of the page. */
const menu = (summary: Html, name: string, items: readonly Content[]): Html =>
  html`<details class="menu" name="menu"><summary>${summary}<span class="visually-hidden">${name}</span></summary>
<ul>${items.map((item) => html`<li>${item}</li>`)}</ul></details>`;

/** Links and menus of the caller. */
function accountOf({ caller, path }: Seen, place: Place | undefined): Html {
  if (!caller)
    return html`<nav aria-label="Main"><a class="button" href="${`/users/sign_in?to=${encodeURIComponent(path)}`}">Sign in</a></nav>`;
  return html`${searchForm(place)}<nav aria-label="Main">${menu(icon('plus'), 'Create', [
    html`<a href="/projects/new">${icon('code')}New project</a>`,
    html`<a href="/groups/new">${icon('group')}New group</a>`,
  ])}
<a class="quiet" href="/dashboard/todos" aria-label="To-do list">${icon('inbox')}</a>
${menu(face(caller), `Your menu, ${caller.name}`, [
  html`<a href="${`/${caller.username}`}">${icon('user')}@${caller.username}</a>`,
  ...(caller.admin ? [html`<a href="/admin">${icon('shield')}Administration</a>`] : []),
  html`<a href="/-/profile/preferences">${icon('gear')}Settings</a>`,
  html`<a href="/-/user_settings/personal_access_tokens">${icon('lock')}Access tokens</a>`,
  html`<a href="/-/user_settings/ssh_keys">${icon('lock')}SSH keys</a>`,
  html`<form method="post" action="/users/sign_out"><button class="plain" name="_do" value="sign_out">Sign out</button></form>`,
])}</nav>`;
}

const mark = html`<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M8 1 3 8h2.5L3 12h4v3h2v-3h4l-2.500-4H13z"/></svg><span>Coppice</span>`;
const brandOf = ({ header_logo }: House): Html =>
  header_logo === null ? mark : html`<img src="${header_logo}" alt="Coppice" height="24">`;

/** The width of tabs in the style sheet. */
const usualTabWidth = 4;

/** The page before and behind its main part, which may come in pieces. */
export function layout(
  view: View,
  seen: Seen,
  { assets, sections, house }: Surroundings,
): { before: Html; after: Html } {
  const { title, heading = title[0], place } = view;
  const { theme = 'auto', preferences } = seen.caller?.session ?? {};
  const tabs = preferences && preferences.tab_width !== usualTabWidth ? ` tabs-${preferences.tab_width}` : '';
  const hasMessage = house.header_message !== '' || house.footer_message !== '';
  const before = html`<!doctype html>
<html lang="en" class="${`theme-${theme}${tabs}`}" ?data-keys="${preferences?.keys === false && 'off'}">
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
}${
  view.feed &&
  html`<link rel="alternate" type="application/atom+xml" title="Atom" href="${view.feed}">
`
}<script type="module" src="${assets.script}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
${messageView(house.header_message)}<header class="top"><a class="brand" href="/">${brandOf(house)}</a>${place && crumbs(place)}${accountOf(seen, place)}</header>
${factorNotice(seen)}${house.notices.map((notice) => noticeView(notice, seen))}${sectionsView(sections, place?.tab)}
<main id="main" tabindex="-1">
<h1>${heading}</h1>
${lostRefusal(view, seen)}`;
  return {
    before,
    after: html`</main>
<footer>${view.feed && html`<a href="${view.feed}">Feed</a> `}<a href="/docs">API</a></footer>
${messageView(house.footer_message)}</body>
</html>
`,
  };
}
