/** The views of declared pages. */
import type { Values } from '../../../http/index.ts';
import { type Content, type Html, html, type View } from '../../../pages/index.ts';

interface ShownMap {
  label: string;
  pages: readonly { name: string; label: string; path: string }[];
}

/** The navigation beside settings; on narrow screens it is behind a button. */
export function mapView(groups: readonly ShownMap[], current: string): Html {
  const here = groups.flatMap(({ pages }) => pages).find(({ name }) => name === current);
  return html`<div class="settings-map"><button type="button" popovertarget="map">${here?.label ?? 'Settings'}</button>
<nav id="map" popover aria-label="Settings">${groups.map(
    ({ label, pages }) => html`<h2>${label}</h2><ul>${pages.map(
      ({ name, label: text, path }) =>
        html`<li><a href="${path}" ?aria-current="${name === current && 'page'}">${text}</a></li>`,
    )}</ul>
`,
  )}</nav></div>
`;
}

/** A page with a secret that is shown only once. */
export const onceView = (title: string, secrets: readonly (readonly [label: string, value: unknown])[], back: string) =>
  ({
    title: [title],
    main: html`<p class="notice">Copy it now. It is not shown again.</p>
<dl class="facts">${secrets.map(([label, value]) => html`<dt>${label}</dt><dd><code>${String(value)}</code></dd>`)}</dl>
<p><a class="button" href="${back}">Back</a></p>`,
  }) satisfies View;

/** A member of a reply as text. */
export const textOf = (reply: Values, name: string): string => String(reply[name] ?? '');

/** Texts behind each other with a dot between them. */
export const dotted = (parts: readonly Content[]): Content =>
  parts.filter((each) => each !== undefined && each !== '').map((each, index) => [index > 0 && ' · ', each]);
