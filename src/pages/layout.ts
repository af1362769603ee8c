/** What all pages have around them. */
import type { Assets } from './assets.ts';
import { lostRefusal } from './forms.ts';
import { type Content, type Html, html } from './html.ts';
import type { Place, Seen, View } from './page.ts';

export interface Tab {
  name: string;
  label: string;
  path: string;
}

/** What the layout needs besides the view. */
export interface Surroundings {
  /** The addresses of the assets. */
  assets: Assets;
  /** The tabs of the project or group. */
  tabs: readonly Tab[];
}

/** The way to a group or project: each part of its path leads to what it names. */
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

/** Links and the menu of the caller. */
function accountOf({ caller, path }: Seen): Html {
  if (!caller) return html`<a href="${`/users/sign_in?to=${encodeURIComponent(path)}`}">Sign in</a>`;
  return html`<a href="/search">Search</a> <a href="/dashboard/todos">To-do list</a>
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

/** The page before and behind its main part, which may come in pieces. */
export function layout(view: View, seen: Seen, { assets, tabs }: Surroundings): { before: Html; after: Html } {
  const { title, heading = title[0], place } = view;
  const theme = seen.caller?.session.theme ?? 'auto';
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
<link rel="icon" href="${assets.icon}">
<script type="module" src="${assets.script}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="bar"><a class="brand" href="/"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M8 1 3 8h2.5L3 12h4v3h2v-3h4l-2.500-4H13z"/></svg>Coppice</a>${accountOf(seen)}</header>
${place && trail(place)}${tabsOf(tabs, place?.tab)}
<main id="main" tabindex="-1">
<h1>${heading}</h1>
${lostRefusal(view, seen)}`;
  return {
    before,
    after: html`</main>
<footer><a href="/docs">API</a></footer>
</body>
</html>
`,
  };
}
