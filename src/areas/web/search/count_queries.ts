/** How much a search finds of other kinds, and in wider places: as much as can be counted in a moment. */
import { ApiError, type Page } from '../../../http/index.ts';
import type { Operation, PageCall } from '../../../pages/index.ts';
import { readsEveryRow } from '../../../texts/index.ts';
import type { Level, ShownScope } from './scope_rules.ts';

/** Where a search is: everywhere, in a group, or in a project. */
export type Where = { operation: Operation } & ({ level: 'global' } | { level: 'project' | 'group'; id: string });

/** A wider place, with how much of the shown kind is in it. */
export interface Elsewhere {
  name: string;
  /** What the query of the page has in place of that of the narrower one. */
  query: { project_id?: undefined; group_id: string | undefined };
  count: number;
}

/** How long counting may take; what is not counted by then has no number. */
const budget_ms = 1000;

/** The places around one, from the inner ones to the outer ones. */
function placesAround(where: Where): readonly (Pick<Elsewhere, 'name' | 'query'> & { where: Where })[] {
  const everywhere = {
    name: 'everywhere',
    query: { project_id: undefined, group_id: undefined },
    where: { level: 'global', operation: 'listSearchResults' } as const,
  };
  if (where.level === 'global') return [];
  const id = where.id.slice(0, Math.max(0, where.id.lastIndexOf('/')));
  if (id === '') return [everywhere];
  const group = { level: 'group', id, operation: 'listGroupSearchResults' } as const;
  return [{ name: `in ${id}`, query: { project_id: undefined, group_id: id }, where: group }, everywhere];
}

/** How much is found; undefined if it is too much to be counted, hidden, or refused, such as for a search that takes too long. */
async function countIn(call: PageCall, where: Where, scope: string, search: string): Promise<number | undefined> {
  const { level: _, operation, ...at } = where;
  try {
    const { reply } = await call.described(operation, { ...at, scope, search, per_page: 1 });
    return (reply as Page<unknown>).total;
  } catch (error) {
    if (error instanceof ApiError && error.status !== 500) return undefined;
    throw error;
  }
}

/**
 * Counts one after the other, so that a search takes one connection more, and no longer than its budget.
 * @param id the full path of the project or group
 */
export async function countsFor(
  call: PageCall,
  where: Where,
  {
    offered,
    scope,
    search,
    id,
  }: { offered: readonly ShownScope[]; scope: ShownScope; search: string; id: string | undefined },
): Promise<{ counts: ReadonlyMap<string, number>; elsewhere: readonly Elsewhere[] }> {
  const counts = new Map<string, number>();
  const elsewhere: Elsewhere[] = [];
  const until = performance.now() + budget_ms;
  const isOver = () => performance.now() > until;
  if (readsEveryRow(search)) return { counts, elsewhere };
  const around = where.level === 'global' || id === undefined ? [] : placesAround({ ...where, id });
  if (!scope.in_repositories)
    for (const place of around) {
      if (isOver()) break;
      const isOffered = scope.levels.includes(place.where.level as Level);
      const count = isOffered ? await countIn(call, place.where, scope.name, search) : undefined;
      if (count) elsewhere.push({ name: place.name, query: place.query, count });
    }
  for (const { name, in_repositories } of offered) {
    if (isOver()) break;
    const count = in_repositories || name === scope.name ? undefined : await countIn(call, where, name, search);
    if (count !== undefined) counts.set(name, count);
  }
  return { counts, elsewhere };
}
