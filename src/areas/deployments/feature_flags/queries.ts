/** Queries for feature flags and user lists. */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { found } from '../../../http/index.ts';

interface ShownScope {
  id: number;
  environment_scope: string;
}

interface ShownStrategy {
  id: number;
  name: string;
  parameters: Record<string, string>;
  scopes: ShownScope[];
  user_list: { id: number; iid: number; name: string; user_xids: string } | null;
}

const scopes = sql`(
  select coalesce(json_agg(json_build_object('id', scopes.id, 'environment_scope', scopes.environment_scope) order by scopes.id), '[]')
    from feature_flag_scopes scopes where scopes.strategy_id = strategies.id)`;
const userList = sql`(
  select json_build_object('id', lists.id, 'iid', lists.iid, 'name', lists.name, 'user_xids', lists.user_xids)
    from feature_flag_user_lists lists where lists.id = strategies.user_list_id)`;
const strategies = sql<ShownStrategy[]>`(
  select coalesce(json_agg(json_build_object('id', strategies.id, 'name', strategies.name, 'parameters', strategies.parameters, 'scopes', ${scopes},
                                             'user_list', ${userList}) order by strategies.id), '[]')
    from feature_flag_strategies strategies where strategies.feature_flag_id = feature_flags.id)`;

/** The flags of a project, with their strategies. */
export const flagsOf = (db: Database, project_id: number) =>
  db
    .selectFrom('feature_flags')
    .select(['id', 'iid', 'name', 'description', 'active', 'created_at', 'updated_at', strategies.as('strategies')])
    .where('project_id', '=', project_id);

export type FlagRow = Awaited<ReturnType<ReturnType<typeof flagsOf>['executeTakeFirstOrThrow']>>;

/**
 * A flag by its name.
 * @throws ApiError 404
 */
export const flagNamed = async (db: Database, project_id: number, name: string): Promise<FlagRow> =>
  found(undefined, await flagsOf(db, project_id).where('name', '=', name).executeTakeFirst());

/** The user lists of a project. */
export const listsOf = (db: Database, project_id: number) =>
  db
    .selectFrom('feature_flag_user_lists')
    .select(['id', 'iid', 'project_id', 'name', 'user_xids', 'created_at', 'updated_at'])
    .where('project_id', '=', project_id);

export type ListRow = Awaited<ReturnType<ReturnType<typeof listsOf>['executeTakeFirstOrThrow']>>;

/**
 * A user list by its number.
 * @throws ApiError 404
 */
export const listNumbered = async (db: Database, project_id: number, iid: number): Promise<ListRow> =>
  found(undefined, await listsOf(db, project_id).where('iid', '=', iid).executeTakeFirst());

/** The size of a project's strategies and of the lists they use, in bytes. */
export const contentSize = (project_id: number): RawBuilder<number> => sql`(
  select coalesce(sum(octet_length(strategies.parameters::text) + coalesce(octet_length(lists.user_xids), 0)), 0)::bigint
    from feature_flags flags join feature_flag_strategies strategies on strategies.feature_flag_id = flags.id
         left join feature_flag_user_lists lists on lists.id = strategies.user_list_id
   where flags.project_id = ${project_id})`;
