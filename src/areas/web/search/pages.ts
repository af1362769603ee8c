/** Searching everything, a group or a project (docs/reference/pages.md#search). */
import { visibleGroup, visibleProject } from '../../../access/index.ts';
import { type PageCall, type Place, page, pagingOf, textIn } from '../../../pages/index.ts';
import { projectPaths } from '../house/path_queries.ts';
import { countsFor, type Where } from './count_queries.ts';
import { scopes } from './scope_rules.ts';
import { type Found, searchView } from './views.ts';

function whereIn({ query }: PageCall): Where {
  const [project, group] = [textIn(query, 'project_id'), textIn(query, 'group_id')];
  if (project !== undefined) return { level: 'project', id: project, operation: 'listProjectSearchResults' };
  if (group !== undefined) return { level: 'group', id: group, operation: 'listGroupSearchResults' };
  return { level: 'global', operation: 'listSearchResults' };
}

/** The project or group to be searched. */
async function shownPlace({ services: { db }, caller }: PageCall, where: Where): Promise<Place | undefined> {
  if (where.level === 'global') return undefined;
  const visible = where.level === 'project' ? visibleProject : visibleGroup;
  const { full_path } = await visible(db, caller, where.id);
  return { id: full_path, kind: where.level };
}

const projectIds = (results: Found['results']) =>
  (results?.items ?? []).flatMap(({ project_id }) => (typeof project_id === 'number' ? [project_id] : []));

export const searchPage = page('/search', {
  signed_in: true,
  async load(call): Promise<Found> {
    const where = whereIn(call);
    const { level, operation, ...at } = where;
    const place = await shownPlace(call, where);
    const offered = scopes.filter(({ levels }) => levels.includes(level));
    const scope = offered.find(({ name }) => name === call.query.scope) ?? offered[0]!;
    const search = textIn(call.query, 'search');
    const asked = { ...at, ...pagingOf(call), scope: scope.name, search };
    const [found, counted] =
      search === undefined
        ? []
        : await Promise.all([
            call.described(operation, asked),
            countsFor(call, where, { offered, scope, search, id: place?.id }),
          ]);
    const results = found?.reply as Found['results'];
    const paths = await projectPaths(call.services.db, projectIds(results));
    return { place, offered, scope, search, results, counted, paths };
  },
  view: searchView,
});
