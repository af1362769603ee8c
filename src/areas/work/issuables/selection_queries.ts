/** Selects the rows of lists by their parameters. */
import { sql } from 'kysely';
import type { Group, IssuableKind, MaybeCaller, Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Plan, reaches } from '../../../http/index.ts';
import type { Filter, Predicate, Selection, View } from '../../../lists/index.ts';
import type { SeenBy } from './filters.ts';
import { type NamesAsked, namesFor } from './name_queries.ts';
import { isInScope, type ListScope } from './scope_queries.ts';

/** The scope, reader and parameters of a list. */
export interface Listing<F, S = ListScope> {
  caller: MaybeCaller;
  scope: S;
  /** The plan in force. */
  plan: Plan;
  /** May contain any list parameter. */
  filters: F;
  /** Filters on rows of the kind's table in addition to the parameters, e.g. for one milestone. */
  only?: Filter | readonly Filter[];
}

/** The context of the predicates of a list. */
export interface SeenInList extends SeenBy {
  plan: Plan;
  /** The time of the request, which determines the current day. */
  now: Date;
  project_id: number | undefined;
}

/** A noun whose lists have their own parameters. */
export interface Listable<F, S = ListScope> {
  kind: IssuableKind;
  /** What the caller may read in a scope, unless the parameters exclude places. */
  viewOf(db: Database, caller: MaybeCaller, scope: S, filters: F): Promise<View>;
  /** The names in the parameters that need a lookup. */
  namesIn(filters: F): NamesAsked;
  /** @throws ApiError 400 for values that are neither ids nor keywords */
  filtersFor(filters: F, seen: SeenInList): Filter[];
}

/** The parts of a scope that determine which labels and milestones its items may have. */
interface ScopeOfNames {
  project?: Pick<Project, 'id'>;
  group?: Pick<Group, 'id'>;
  everywhere?: true;
}

/** A predicate on labels and milestones: items in a scope may have them. Includes those of any group, because an item keeps them when its project is transferred. */
function isNear({ project, group }: ScopeOfNames): Predicate {
  if (project) return sql`(project_id = ${project.id} or group_id is not null)`;
  if (!group) return sql`true`;
  return sql`(project_id in (select id from projects where ${isInScope({ group }, false)}) or group_id is not null)`;
}

/**
 * The selection of a list.
 * @throws ApiError 400 for invalid filters
 */
export async function selectionOf<F, S extends ScopeOfNames>(
  db: Database,
  { kind, viewOf, namesIn, filtersFor }: Listable<F, S>,
  { caller, scope, plan, filters, only = [] }: Listing<F, S>,
): Promise<Selection> {
  const names = await namesFor(db, namesIn(filters), { isNear: isNear(scope), wildcards: reaches(plan, 'premium') });
  const view = await viewOf(db, caller, scope, filters);
  const given = filtersFor(filters, { caller, names, plan, now: new Date(), project_id: scope.project?.id });
  return { kind, view, filters: [only, given].flat() };
}
