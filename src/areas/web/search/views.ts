/** Views of search results. */
import type { Page, Values } from '../../../http/index.ts';
import {
  type Content,
  filterForm,
  type Html,
  hidden,
  html,
  type Place,
  pager,
  rows,
  type Seen,
  type View,
  withQuery,
} from '../../../pages/index.ts';
import type { ProjectPaths } from '../house/path_queries.ts';
import type { countsFor } from './count_queries.ts';
import type { ShownScope } from './scope_rules.ts';

export interface Found {
  /** The project or group to be searched; undefined for the whole instance. */
  place: Place | undefined;
  offered: readonly ShownScope[];
  scope: ShownScope;
  search: string | undefined;
  /** Undefined before a search. */
  results: (Page<Values> & { headers?: Record<string, string> }) | undefined;
  paths: ProjectPaths;
  /** How much there is of the other kinds, and elsewhere, as far as it was counted. */
  counted: Awaited<ReturnType<typeof countsFor>> | undefined;
}

/** Hidden fields that keep the scope of the search. */
const placeFields = ({ query }: Seen) =>
  ['project_id', 'group_id', 'scope'].flatMap((name) =>
    typeof query[name] === 'string' ? [hidden(name, query[name])] : [],
  );

function scopesView({ offered, scope, counted, results }: Found, seen: Seen): Html {
  const countOf = (name: string) => (name === scope.name ? results?.total : counted?.counts.get(name));
  return html`<nav class="tabs" aria-label="What to find"><ul>${offered.map(({ name, label }) => {
    const count = countOf(name);
    return html`<li><a href="${withQuery(seen, { scope: name, page: undefined, cursor: undefined })}" ?aria-current="${name === scope.name && 'page'}">${label}${count !== undefined && html` <span class="soft">${count}</span>`}</a></li>`;
  })}</ul></nav>`;
}

/** How much is found in wider places, with links to it. */
const elsewhereView = ({ counted }: Found, seen: Seen): Content =>
  counted &&
  counted.elsewhere.length > 0 &&
  html`<p class="soft">${counted.elsewhere.map(
    ({ name, query, count }, index) =>
      html`${index > 0 && ', '}<a href="${withQuery(seen, { project_id: undefined, ...query, page: undefined, cursor: undefined })}">${count} ${name}</a>`,
  )}</p>`;

export function searchView(found: Found, seen: Seen): View {
  const { place, search, results, scope, paths } = found;
  return {
    title: search === undefined ? ['Search'] : [search, 'Search'],
    heading: 'Search',
    ...(place && { place }),
    main: html`${filterForm(seen, [{ name: 'search', label: 'Search for' }, ...placeFields(seen)], 'Search')}
${place && html`<p><a href="${withQuery(seen, { project_id: undefined, group_id: undefined, page: undefined, cursor: undefined })}">Search everything</a></p>`}
${scopesView(found, seen)}
${elsewhereView(found, seen)}
${results?.headers && html`<p class="notice">There was no time to search everything. What was found is below.</p>`}
${
  results &&
  html`${rows(
    results.items.map((item) => scope.line(item, paths)),
    'Nothing was found.',
  )}
${pager(results, seen)}`
}`,
  };
}
