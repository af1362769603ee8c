/** Searching everything, a group or a project (docs/reference/pages.md#search). */
import { isAmong } from '../../../db/index.ts';
import { type PageCall, page, pagingOf, textIn } from '../../../pages/index.ts';
import { type ProjectPaths, scopes } from './scope_rules.ts';
import { type Found, searchView } from './views.ts';

/** Where the query says to search: its parameters for the operation, and the level. */
function placeOf({ query }: PageCall) {
  const [project, group] = [textIn(query, 'project_id'), textIn(query, 'group_id')];
  if (project !== undefined) return { level: 'project' as const, id: project, operation: 'listProjectSearchResults' };
  if (group !== undefined) return { level: 'group' as const, id: group, operation: 'listGroupSearchResults' };
  return { level: 'global' as const, operation: 'listSearchResults' };
}

/** The paths of the projects of what was found, which the caller may read. */
async function pathsOf({ services: { db } }: PageCall, results: Found['results']): Promise<ProjectPaths> {
  const ids = (results?.items ?? []).flatMap(({ project_id }) => (typeof project_id === 'number' ? [project_id] : []));
  if (ids.length === 0) return new Map();
  const found = await db
    .selectFrom('projects')
    .select(['id', 'full_path'])
    .where(isAmong('id', ids, 'bigint[]'))
    .execute();
  return new Map(found.map(({ id, full_path }) => [id, full_path]));
}

export const searchPage = page('/search', {
  signed_in: true,
  async load(call): Promise<Found> {
    const { level, operation, ...at } = placeOf(call);
    const offered = scopes.filter(({ levels }) => levels.includes(level));
    const scope = offered.find(({ name }) => name === call.query.scope) ?? offered[0]!;
    const search = textIn(call.query, 'search');
    const asked = { ...at, ...pagingOf(call), scope: scope.name, search };
    const found = search === undefined ? undefined : await call.described(operation, asked);
    const results = found?.reply as Found['results'];
    return { offered, scope, search, results, paths: await pathsOf(call, results) };
  },
  view: searchView,
});
